"""Training on a GPU: what runs learn, and whether they learn the same again."""
