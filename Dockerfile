# syntax=docker/dockerfile:1
# shotad with its review page: docs/container.md.
#
#   docker build -t shotad .
#   docker build -t shotad:cuda --build-arg EXTRAS=voice,review,openai,models,transcript .
#
# The second one has PyTorch, which brings CUDA's libraries: of NVIDIA it needs the driver alone.

ARG PYTHON=3.13

# What is needed to run, without the program: libGL and GLib are loaded by OpenCV.
FROM python:${PYTHON}-slim-trixie AS base
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgl1 libglib2.0-0t64 \
    && rm -rf /var/lib/apt/lists/*

# An environment with the program; pip's cache and the sources stay out of the image.
FROM base AS build
ARG EXTRAS=voice,review,openai
ENV PIP_CACHE_DIR=/var/cache/pip
WORKDIR /source
RUN python -m venv /opt/shotad
# The libraries first: they are installed again only when these two files change.
COPY pyproject.toml constraints.txt ./
RUN --mount=type=cache,target=/var/cache/pip \
    python -c 'import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
print(*project["dependencies"], *(line for extra in sys.argv[1].split(",") \
for line in project["optional-dependencies"][extra]), sep="\n")' "$EXTRAS" > requirements.txt \
    && /opt/shotad/bin/python -m pip install --constraint constraints.txt --requirement requirements.txt
COPY . .
RUN --mount=type=cache,target=/var/cache/pip \
    /opt/shotad/bin/python -m pip install --no-deps .

FROM base
RUN useradd --uid 1000 --create-home shotad \
    && mkdir /films /cache /config \
    && chown shotad /films /cache /config
COPY --from=build /opt/shotad /opt/shotad
# Films with their work folders; weights of models; what the user trusts, and the key of the review page's queue.
ENV PATH=/opt/shotad/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SHOTAD_CACHE=/cache/shotad \
    HF_HOME=/cache/huggingface \
    SHOTAD_CONFIG=/config
USER 1000
VOLUME ["/films", "/cache", "/config"]
WORKDIR /films
EXPOSE 8477
# Any answer is a sign of health: who comes without the page's token gets 401.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["python", "-c", "from http.client import HTTPConnection as Connection; page = Connection('localhost', 8477, timeout=5); page.request('GET', '/'); page.getresponse()"]
ENTRYPOINT ["shotad"]
CMD ["review", "/films", "--host", "0.0.0.0", "--port", "8477", "--no-open"]
