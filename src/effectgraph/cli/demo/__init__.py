"""The demo: an order whose worker is killed in the middle of each effect and recovered, counted at the targets."""
