# The desk for a folder of photos. Not tried yet: it was written on a machine without a container engine.
#
#   docker build -t tagrank-desk .
#   docker run --rm -it -p 127.0.0.1:8477:8477 --user "$(id -u):$(id -g)" -v "$PWD/photos:/photos" -v tagrank-state:/state tagrank-desk
#
# The first start asks for the password with which people sign in. Decisions lie in /photos/.tagrank, models and sign-ins in /state.
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /tagrank && /tagrank/bin/pip install --no-cache-dir '.[embedding,desk,formats]'

FROM python:3.13-slim
COPY --from=build /tagrank /tagrank
# any user may write there, so that --user can be that of the photos; a new volume takes owner and mode from here
RUN useradd --create-home --uid 1000 tagrank && mkdir -m 1777 /state && install -d -o tagrank -g tagrank /photos
ENV PATH=/tagrank/bin:$PATH \
    TAGRANK_STATE=/state/state \
    TAGRANK_CACHE=/state/cache \
    NUMBA_CACHE_DIR=/state/compiled \
    HOME=/state
USER tagrank
WORKDIR /photos
EXPOSE 8477
VOLUME /state
ENTRYPOINT ["tagrank", "desk", "/photos", "--host", "0.0.0.0", "--port", "8477", "--no-browser"]
