"""The embedded site: the semantics of the port on one machine, each pod an operating-system process."""
