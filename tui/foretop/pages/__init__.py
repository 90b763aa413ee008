"""The pages of the dashboard and the frame around them."""
