# SPDX-License-Identifier: Apache-2.0
# The daemon on Debian 13, whose libmicrohttpd 1.0 parses requests more strictly than Debian 12's;
# in the image there is nothing else but the libraries it needs. What npm brings (build/npm) is taken
# from where the image is built if it is there, and else fetched.
FROM debian:trixie-slim AS build
WORKDIR /src
COPY deploy/deps.sh deploy/
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends make && deploy/deps.sh build
COPY . .
ARG REVISION=unknown
RUN make --silent all install DESTDIR=/out PREFIX=/usr REVISION=$REVISION \
    && deploy/image-root.sh /out/usr/bin/posencd /image \
    && install -D -m 644 LICENSE /image/usr/share/doc/posencd/LICENSE \
    && install -D -m 644 build/npm/node_modules/uplot/LICENSE /image/usr/share/doc/uplot/copyright

FROM scratch
COPY --from=build /image /
ARG REVISION=unknown
ARG VERSION=unknown
LABEL org.opencontainers.image.title="posencd" \
      org.opencontainers.image.description="Exact positional encodings of transformers over HTTP" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
USER 10001:10001
ENV POSENC_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
    CMD ["/usr/bin/posencd", "--healthcheck"]
ENTRYPOINT ["/usr/bin/posencd"]
