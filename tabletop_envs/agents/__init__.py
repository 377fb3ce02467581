"""Who plays: policies answered in batches."""
