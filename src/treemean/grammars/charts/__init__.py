"""What inside algorithms of all families share: where spans lie in a chart, logarithms of sums."""
