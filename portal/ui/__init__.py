"""Pure makers of marks, badges and charts: plain values in, SVG text out. No ORM, no request."""
