"""Inside algorithms: for each family of rules a naive reference and a vectorised version of it."""
