"""Checks a CycloneDX 1.5 document against its schema, strictly: sbom.py FILE."""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

problem = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
if problem:
    sys.exit(str(problem))
