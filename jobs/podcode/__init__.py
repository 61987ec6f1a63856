"""Scripts that run inside customers' pods, shipped as text: standard library only, Python 3.8 and newer."""
