"""What choosing trees takes in both families: what "or" means in a chart, and which alternative is taken."""
