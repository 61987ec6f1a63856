"""The root of the REST API: joins the apps, serves the schema and its readable form."""
