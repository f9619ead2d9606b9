"""What is fitted: weights of runs, estimators of correctness, objectives, and the file that holds them."""
