"""What a catalog's options make of S3's and Azure's clients; nobody is asked anything."""

from collections.abc import Mapping

import pytest

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.options.acceptance import check_catalog_options
from lakebed.storage import azure, s3
from lakebed.storage.obstore_client import ClientSettings
from lakebed.storage.uri import parse_location

ENVIRONMENT = (
    *("AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_REGION"),
    *("AWS_DEFAULT_REGION", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ENDPOINT"),
)
ACCOUNT = "abfss://lake@acc.dfs.core.windows.net/db"
LOGIN = "https://login.microsoftonline.com/my-tenant/oauth2/token"
KEY = "fs.azure.account.key"
OAUTH = {
    "fs.azure.account.auth.type": "OAuth",
    "fs.azure.account.oauth2.client.id": "me",
    "fs.azure.account.oauth2.client.secret": "s",
    "fs.azure.account.oauth2.client.endpoint": LOGIN,
}
PROVIDER = "fs.azure.account.oauth.provider.type"


@pytest.fixture(autouse=True)
def _silent_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def of_s3(options: Mapping[str, str]) -> dict[str, str]:
    check_catalog_options(options)
    return dict(s3.client_settings("lake", options).values)


def of_azure(options: Mapping[str, str], location: str = ACCOUNT) -> dict[str, str]:
    check_catalog_options(options)
    return dict(azure.client_settings(parse_location(location), options).values)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"region": "us-east-1", "virtual_hosted_style_request": "false"}),
        ({"s3.region": "eu-west-1"}, {"region": "eu-west-1"}),
        ({"fs.s3a.endpoint.region": "eu-west-1"}, {"region": "eu-west-1"}),
        (
            {"s3.endpoint": "s3.eu-west-1.amazonaws.com"},
            {"region": "eu-west-1", "endpoint": "https://s3.eu-west-1.amazonaws.com"},
        ),
        (
            {"s3.endpoint": "http://127.0.0.1:7070"},
            {"endpoint": "http://127.0.0.1:7070", "virtual_hosted_style_request": "false"},
        ),
        (
            {"s3.endpoint": "minio.example.com:9000"},
            {
                "endpoint": "https://lake.minio.example.com:9000",
                "virtual_hosted_style_request": "true",
            },
        ),
        (
            {"fs.s3a.endpoint": "minio:9000", "fs.s3a.connection.ssl.enabled": "false"},
            {"endpoint": "http://lake.minio:9000"},
        ),
        (
            {"s3.endpoint": "http://minio:9000/", "s3.path.style.access": "true"},
            {"endpoint": "http://minio:9000", "virtual_hosted_style_request": "false"},
        ),
        (
            {"s3.access-key": "k", "fs.s3a.secret.key": "s", "s3a.session.token": "t"},
            {"access_key_id": "k", "secret_access_key": "s", "session_token": "t"},
        ),
        (
            {"fs.s3a.aws.credentials.provider": "org.x.AnonymousAWSCredentialsProvider"},
            {"skip_signature": "true"},
        ),
        (
            {"fs.s3a.encryption.algorithm": "SSE-KMS", "fs.s3a.encryption.key": "arn"},
            {"server_side_encryption": "aws:kms", "sse_kms_key_id": "arn"},
        ),
        ({"s3.requester.pays.enabled": "true"}, {"request_payer": "true"}),
    ],
)
def test_options_of_s3_under_all_their_names(
    options: dict[str, str], expected: dict[str, str]
) -> None:
    assert expected.items() <= of_s3(options).items()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"s3.access-key": "k"}, "secret-key is missing"),
        ({"s3.secret-key": "k"}, "access-key is missing"),
        ({"s3.access-key": "k", "fs.s3a.access.key": "l"}, "spellings of one option and differ"),
        ({"s3.path.style.access": "yes"}, "true or false"),
        ({"s3.endpoint": "ftp://x"}, "no host or http"),
        ({"s3.acess-key": "k"}, r"Is it 's3\.access-key'"),
    ],
)
def test_options_of_s3_that_cannot_be(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        of_s3(options)


@pytest.mark.parametrize(
    "options",
    [
        {"fs.s3a.aws.credentials.provider": "com.example.MyProvider"},
        {"fs.s3a.encryption.algorithm": "CSE-KMS"},
    ],
)
def test_options_of_s3_that_lakebed_lacks(options: dict[str, str]) -> None:
    with pytest.raises(UnsupportedError, match="is not supported"):
        of_s3(options)


def test_an_endpoint_of_the_environment_may_be_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    settings = s3.client_settings("lake", {})
    assert settings.allows_http
    assert not s3.client_settings("lake", {"s3.endpoint": "127.0.0.1:9000"}).allows_http


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"account_name": "acc", "endpoint": "https://acc.blob.core.windows.net"}),
        ({KEY: "k"}, {"account_key": "k", "credential_type": "access_key"}),
        ({"azure.account.key": "k"}, {"account_key": "k"}),
        ({f"{KEY}.acc.dfs.core.windows.net": "k", KEY: "l"}, {"account_key": "k"}),
        ({f"{KEY}.acc.blob.core.windows.net": "k"}, {"account_key": "k"}),
        (
            {"fs.azure.sas.fixed.token": "?sv=x"},
            {"sas_key": "sv=x", "credential_type": "sas_token"},
        ),
        ({"fs.azure.sas.lake.acc.blob.core.windows.net": "sv=x"}, {"sas_key": "sv=x"}),
        (
            OAUTH | {PROVIDER: "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"},
            {
                "credential_type": "client_secret",
                "client_id": "me",
                "client_secret": "s",
                "tenant_id": "my-tenant",
                "authority_host": "https://login.microsoftonline.com",
            },
        ),
        (OAUTH | {PROVIDER: "x.MsiTokenProvider"}, {"credential_type": "managed_identity"}),
        (
            OAUTH
            | {
                PROVIDER: "x.WorkloadIdentityTokenProvider",
                "fs.azure.account.oauth2.token.file": "/token",
                "fs.azure.account.oauth2.msi.tenant": "t",
            },
            {
                "credential_type": "workload_identity",
                "federated_token_file": "/token",
                "tenant_id": "t",
            },
        ),
    ],
)
def test_options_of_azure_under_all_their_names(
    options: dict[str, str], expected: dict[str, str]
) -> None:
    assert expected.items() <= of_azure(options).items()


def test_azure_in_another_cloud_and_without_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    china = of_azure({}, "abfss://lake@acc.dfs.core.chinacloudapi.cn/x")
    assert china["endpoint"] == "https://acc.blob.core.chinacloudapi.cn"
    assert of_azure({"azure.account.name": "acc"}, "az://lake/x")["account_name"] == "acc"
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "other")
    assert of_azure({}, "az://lake/x")["account_name"] == "other"


@pytest.mark.parametrize(
    ("options", "location", "message"),
    [
        ({}, "az://lake/x", "no account"),
        ({}, "abfss://lake/x", "no account"),
        ({}, "abfss://lake@acc/x", "is not of the form"),
        ({}, "abfss://@acc.dfs.core.windows.net/x", "is not of the form"),
        ({"fs.azure.account.auth.type": "SharedKey"}, ACCOUNT, "account.key is missing"),
        ({"fs.azure.account.auth.type": "OAuth"}, ACCOUNT, "provider.type is missing"),
        (
            {**OAUTH, PROVIDER: "x.ClientCredsTokenProvider"}
            | {"fs.azure.account.oauth2.client.endpoint": "login"},
            ACCOUNT,
            "oauth2/token",
        ),
    ],
)
def test_options_of_azure_that_cannot_be(
    options: dict[str, str], location: str, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        of_azure(options, location)


@pytest.mark.parametrize(
    "options", [{"fs.azure.account.auth.type": "Custom"}, OAUTH | {PROVIDER: "x.MyProvider"}]
)
def test_options_of_azure_that_lakebed_lacks(options: dict[str, str]) -> None:
    with pytest.raises(UnsupportedError, match="is not supported"):
        of_azure(options)


def test_secrets_are_in_no_representation() -> None:
    settings: list[ClientSettings] = [
        s3.client_settings("lake", {"s3.access-key": "SECRET1", "s3.secret-key": "SECRET2"}),
        azure.client_settings(parse_location(ACCOUNT), {KEY: "SECRET3"}),
    ]
    for each in settings:
        assert "SECRET" in str(each.values)
        assert "SECRET" not in repr(each)
