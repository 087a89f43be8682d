"""Holds a planned GraphQL request against the schema that the service's vendor publishes."""

import json
from urllib.parse import urlsplit

from graphql import GraphQLError, OperationDefinitionNode, build_schema, get_variable_values, parse, specified_rules, validate


class GraphqlSchema:
    """One schema, and the address that it is served at. Has the interface of `judge.Description`."""

    def __init__(self, url, texts):
        self.url = urlsplit(url)
        self.schema = build_schema("\n".join(texts), assume_valid=True, no_location=True)

    def judge(self, request):
        """What is wrong with the request; None where it goes elsewhere."""
        url = urlsplit(request["url"])
        if (url.hostname, url.path) != (self.url.hostname, self.url.path):
            return None
        if request["method"] != "POST":
            return [f"{request['method']}: GraphQL is asked with POST"]
        body = json.loads(request["body"] or "null")
        if not isinstance(body, dict) or not isinstance(body.get("query"), str):
            # A recorded exchange may name the variables alone.
            return None if request.get("recorded") else ["the body has no query"]
        try:
            document = parse(body["query"])
        except GraphQLError as error:
            return [f"the query cannot be read: {error.message}"]
        wrong = [error.message for error in validate(self.schema, document, specified_rules)]
        if wrong:
            return wrong
        for operation in document.definitions:
            if isinstance(operation, OperationDefinitionNode):
                wrong += self.variables(operation, body.get("variables") or {}, request.get("recorded"))
        return wrong

    def variables(self, operation, sent, recorded):
        declared = {one.variable.name.value for one in operation.variable_definitions or ()}
        wrong = [f"variable {name} is not declared" for name in sorted(sent.keys() - declared)]
        if recorded:
            return wrong
        result = get_variable_values(self.schema, operation.variable_definitions or (), sent)
        errors = result if isinstance(result, list) else getattr(result, "errors", None) or []
        return wrong + [error.message for error in errors]
