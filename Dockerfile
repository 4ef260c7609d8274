# docker build -t rerank . && docker run --rm -v "$PWD:/data" -v rerank:/cache rerank run config.toml
FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir -c /src/constraints.txt /src && rm -rf /src
ENV OMP_NUM_THREADS=1 RERANK_CACHE=/cache
VOLUME /cache
WORKDIR /data
ENTRYPOINT ["rerank"]
CMD ["--help"]
