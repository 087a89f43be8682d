"""The client and its operations. Made from `_async` by make_sync.py; do not edit."""
