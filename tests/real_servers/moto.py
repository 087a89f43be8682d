"""moto's server, which runs no function of Lambda: that takes Docker.

moto calls the JSON of CloudWatch `text`, which is no media type.
"""

import sys

from moto.core.config import default_user_config
from moto.core.serialize import JSONSerializer
from moto.server import main

default_user_config["lambda"]["use_docker"] = False
JSONSerializer.CONTENT_TYPE = "application/x-amz-json-1.0"
main(sys.argv[1:])
