"""Lets all tests import the modules of this folder (`from strategies import trees`)."""
