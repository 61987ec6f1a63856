# Berth in one image: every process is this image with another command (Procfile, k8s/deploy/).
# It runs as a user without name or rights, on a read-only root. What it writes lies in /tmp, /var/lib/berth and
# /run/berth: three empty folders are enough, nothing in them must outlive a container.

FROM python:3.11.14-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/berth
ENV PATH=/opt/berth/bin:$PATH
# The index is pip's own, or what the builder's machine says: --secret id=pip,target=/etc/pip.conf
COPY requirements/base.txt /build/base.txt
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    python -m pip install --only-binary :all: --require-hashes --requirement /build/base.txt
WORKDIR /app
COPY manage.py manage.py
COPY core/ core/
COPY k8s/ k8s/
COPY accounts/ accounts/
COPY clusters/ clusters/
COPY billing/ billing/
COPY jobs/ jobs/
COPY portal/ portal/
COPY templates/ templates/
COPY locale/ locale/
COPY examples/ examples/
# Both keys are for these two commands alone: nothing is signed or sealed here, and no stage keeps them.
RUN export SECRET_KEY=build STATIC_ROOT=/app/staticfiles BERTH_DATA=/tmp \
        SEALING_KEYS=build:0000000000000000000000000000000000000000000000000000000000000000 \
    && python manage.py messages --compile \
    && python manage.py collectstatic --no-input --verbosity 0 \
    && python -m compileall -q /app

FROM python:3.11.14-slim-bookworm
ENV PATH=/opt/berth/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    BERTH_DATA=/var/lib/berth \
    HEARTBEAT_DIR=/run/berth \
    STATIC_ROOT=/app/staticfiles \
    WEB_BIND=0.0.0.0:8000
RUN install --directory --owner 10001 --group 10001 /var/lib/berth /run/berth
COPY --from=build /opt/berth/ /opt/berth/
COPY --from=build /app/ /app/
WORKDIR /app
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["gunicorn", "--config", "portal/gunicorn.py", "portal.wsgi"]
