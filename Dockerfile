# docker build --tag farandole .
# docker run --rm --volume "$PWD:/data" farandole run my-scenario.json --html page.html
FROM debian:trixie-slim AS explore
WORKDIR /farandole
COPY tools tools
RUN apt-get update && tools/explore/build --packages | xargs apt-get install --yes --no-install-recommends
COPY . .
RUN tools/explore/build

FROM debian:bookworm-slim AS build
WORKDIR /farandole
COPY tools/setup tools/options.sh tools/
RUN tools/setup build && tools/setup optional && apt-get install --yes --no-install-recommends python3 dpkg-dev
COPY . .
COPY --from=explore /farandole/build/explore/module build/explore/module
RUN cmake --preset release -DFARANDOLE_TESTS=OFF -DFARANDOLE_PYTHON_PACKAGE=OFF \
 && cmake --build build/release \
 && cpack --config build/release/CPackConfig.cmake -G DEB -B packages

FROM debian:bookworm-slim
COPY --from=build /farandole/packages/farandole_*.deb /tmp/
RUN apt-get update \
 && apt-get install --yes --no-install-recommends /tmp/farandole_*.deb libnlopt0 graphviz \
 && rm -rf /tmp/farandole_*.deb /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["farandole"]
