"""A cloud of block volumes for a real Velero: moto's EC2, in the same server as the object storage."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import urllib3

REGION, ZONE = "us-east-1", "us-east-1a"
_SIGNED = f"AWS4-HMAC-SHA256 Credential=any/20260101/{REGION}/ec2/aws4_request, SignedHeaders=host, Signature=any"
_VOLUME_TAG = re.compile(r"<key>velero.io/pv</key>\s*<value>([^<]*)</value>")


class LoopbackEC2:
    """Volumes and snapshots by EC2's own requests; it takes any credentials."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool = urllib3.PoolManager(retries=False, timeout=60.0)

    def create_volume(self) -> str:
        text = self._ask(Action="CreateVolume", AvailabilityZone=ZONE, Size="1", VolumeType="gp2")
        found = re.search(r"<volumeId>([^<]+)</volumeId>", text)
        assert found is not None, text
        return found[1]

    def snapshotted(self, backup: str) -> set[str]:
        """The PersistentVolumes of which a backup has made a snapshot."""
        of_backup = {"Filter.1.Name": "tag:velero.io/backup", "Filter.1.Value.1": backup}
        return set(_VOLUME_TAG.findall(self._ask(Action="DescribeSnapshots", **of_backup)))

    def _ask(self, **fields: str) -> str:
        answer = self._pool.request(
            "POST",
            self._url,
            body=urlencode({**fields, "Version": "2016-11-15"}),
            headers={"Authorization": _SIGNED, "Content-Type": "application/x-www-form-urlencoded"},
        )
        text = answer.data.decode()
        assert answer.status == 200, text
        return text
