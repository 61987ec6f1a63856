"""REST in one manner for every app: problem documents, pages by cursor, strict bodies. No models."""
