# Synapse for the set-up of compose.yaml: the same image is web, worker, beat and watcher.
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

# A user that owns nothing but the data. The vault is the host's: it is mounted, and SYNAPSE_UID should be its owner.
ARG SYNAPSE_UID=1000
RUN useradd --uid ${SYNAPSE_UID} --create-home synapse \
    && install --directory --owner synapse --group synapse /data /vault

WORKDIR /app
COPY requirements.txt ./
RUN pip install --requirement requirements.txt

COPY manage.py ./
COPY synapse ./synapse
COPY desk ./desk
COPY mcpapi ./mcpapi
COPY reviews ./reviews
COPY wiki ./wiki
COPY vault ./vault

ENV SYNAPSE_VAULT=/vault \
    SYNAPSE_DATA=/data
VOLUME ["/data"]
USER synapse
EXPOSE 8000
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0", "--no-watch"]
