"""Speed on a CPU, and what is fitted and learnt there."""
