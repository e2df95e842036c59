# syntax=docker/dockerfile:1
# Ember's server and worker, with the embedder's weights inside: nothing is downloaded at run time.
#   docker build -t embermem . && docker run -p 127.0.0.1:8765:8765 -v ember:/data embermem
# Keys are needed, since the container listens beyond loopback; docs/operations/server.md says how to make one.

FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY locks/server.txt locks/build.txt locks/
RUN pip install --no-deps --require-hashes -r locks/server.txt -r locks/build.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN pip install --no-deps --no-build-isolation --no-index . \
 && python -c "from embermem.embedders.weights import install_weights; install_weights()"

FROM python:3.13-slim
COPY --from=build /venv /venv
RUN useradd --system --uid 10001 --home-dir /data --create-home ember && chmod 700 /data
USER 10001
WORKDIR /data
VOLUME /data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 EMBERMEM_STORE=/data/memory.db
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/ready', timeout=4)"]
ENTRYPOINT ["embermem"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8765", "--log-format", "json"]
