# SPDX-License-Identifier: Apache-2.0
# The daemon on Debian 13, whose libmicrohttpd 1.0 parses requests more strictly than Debian 12's.
FROM debian:trixie-slim AS build
WORKDIR /src
COPY deploy/deps.sh deploy/
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends make && deploy/deps.sh build
COPY . .
RUN make --silent all install DESTDIR=/out PREFIX=/usr

FROM debian:trixie-slim
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends libmicrohttpd12t64 libuv1t64 libjansson4 libmpfr6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --shell /usr/sbin/nologin --uid 10001 posencd
COPY --from=build /out/usr/bin/posencd /usr/bin/posencd
COPY LICENSE /usr/share/doc/posencd/LICENSE
USER 10001:10001
EXPOSE 8080
ENTRYPOINT ["/usr/bin/posencd"]
CMD ["--listen", "0.0.0.0:8080"]
