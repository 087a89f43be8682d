"""The one place that says the version."""

VERSION = "0.1.0"
