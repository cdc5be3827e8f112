"""The MCP surface: one registry of tools, served over stdio and streamable HTTP."""
