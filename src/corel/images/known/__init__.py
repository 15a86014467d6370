"""The datasets known by name: one file a dataset, and how they are found and fetched."""
