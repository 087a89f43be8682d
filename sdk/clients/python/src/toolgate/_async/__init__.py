"""The client and its operations for asyncio."""
