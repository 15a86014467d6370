"""What studies share: the registry, parts that can be resumed, trainings, encoded datasets."""
