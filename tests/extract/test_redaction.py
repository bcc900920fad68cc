"""What of an address and of any text may be shown: by what is known to be harmless, not by what is known to be secret."""

from __future__ import annotations

import json
import re

import pytest

from gpuledger import errors
from gpuledger.redaction import redact, redact_text

SECRET = "zX9-q7Kd_secretvalue"
#: Names under which services really take or give secrets.
NAMES = [
    "access_token", "accessToken", "access-token", "api_key", "apiKey", "api-key", "apikey", "x-api-key", "auth",
    "authToken", "auth_token", "authorization", "client_secret", "clientSecret", "code", "code_verifier", "credential",
    "Cookie", "csrf_token", "device_code", "GoogleAccessId", "id_token", "jsessionid", "JSESSIONID", "jwt", "key",
    "Key-Pair-Id", "license_key", "nonce", "oauth_token", "otp", "pass", "passcode", "passphrase", "passwd", "password",
    "Password", "PHPSESSID", "Policy", "private_key", "pwd", "refresh_token", "SAMLResponse", "sas", "secret",
    "secret_key", "session", "session_id", "session_token", "sid", "sig", "sign", "Signature", "signature", "ticket",
    "token", "user_token", "webhook_secret", "X-Amz-Credential", "X-Amz-Security-Token", "X-Amz-Signature",
    "x-auth-token", "X-Goog-Signature", "X-Goog-Credential", "subscription-key", "AWSAccessKeyId",
    "AWS_SECRET_ACCESS_KEY", "aws_session_token", "AZURE_CLIENT_SECRET", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN",
    "HF_TOKEN", "OPENAI_API_KEY", "STRIPE_SECRET_KEY", "TWILIO_AUTH_TOKEN", "SLACK_BOT_TOKEN", "DISCORD_WEBHOOK",
    "SENTRY_AUTH_TOKEN", "PGPASSWORD", "MYSQL_PWD", "REDIS_PASSWORD", "DB_PASS", "SMTP_PASSWORD", "ldap_bind_password",
    "bindpw", "X-Vault-Token", "X-Shopify-Access-Token", "PRIVATE-TOKEN", "JOB-TOKEN", "Ocp-Apim-Subscription-Key",
    "X-Api-Secret", "X-CSRFToken", "X-XSRF-TOKEN", "X-Hub-Signature-256", "X-Goog-Api-Key", "x-functions-key",
    "X-RapidAPI-Key", "X-Naver-Client-Secret", "Proxy-Authorization", "client_assertion", "oauth_token_secret",
    "oauth_signature", "oauth_verifier", "SharedAccessKey", "SharedAccessSignature", "AccountKey", "accessKeySecret",
    "consumer_secret", "consumerKey", "appSecret", "app_key", "passKey", "pass_phrase", "user_password", "newPassword",
    "userPwd", "api.token", "apitoken", "bot_token", "botToken", "authenticity_token", "__RequestVerificationToken",
    "csrfmiddlewaretoken", "_xsrf", "sessionKey", "session.id", "ASP.NET_SessionId", "connect.sid", "JSESSIONIDSSO",
    "wordpress_logged_in_cookie", "refreshToken", "idToken", "jwtToken", "bearerToken", "deploy_key", "signing_key",
    "encryption_key", "encryptionKey", "hmac_key", "master_key", "ssh_key", "secretAccessKey",
]  # fmt: skip
#: Those that are words of everyday text as well: in an address they are hidden, in a text they cannot be.
COMMON = ("code", "device_code", "GoogleAccessId", "key", "Key-Pair-Id", "nonce", "Policy", "sas", "sign")
#: Names that are secrets in a text, in many languages.
OF_TEXTS = [
    "dsn", "SENTRY_DSN", "passkey", "privkey", "ssh_privkey", "sessid", "sess_sessid", "connection_string",
    "ConnectionString", "connstr", "conn_str_password", "db.connection-string", "recovery_code", "recoveryCode",
    "recovery-key", "backup_code", "security_code", "cvv", "cvc", "seed_phrase", "mnemonic", "auth_code",
    "accessCode", "令牌", "访问令牌", "口令", "登录口令", "密码", "密钥", "私钥", "秘钥",
    "암호", "비밀번호", "패스워드", "인증키", "비밀키", "토큰",
    "액세스토큰", "시크릿", "복구코드", "パスワード", "暗証番号", "秘密鍵", "トークン", "senha", "senha_admin", "segredo",
    "codigoDeRecuperacao", "chave_secreta", "contraseña", "clave_secreta", "clave_api", "jeton", "clé_secrète",
    "mot_de_passe", "motdepasse", "passwort", "kennwort", "geheimnis", "geheim", "wachtwoord", "adgangskode",
    "passord", "salasana", "lösenord", "losenord", "hasło", "haslo", "heslo", "jelszó", "jelszo", "lozinka",
    "parola", "şifre", "sifre", "пароль", "секрет", "токен", "парола", "סיסמה", "كلمة_المرور", "db_password",
    "admin.pwd", "smtp-pass", "api_token",
]  # fmt: skip
#: Texts in which a secret stands as programs, files and services really write it; what must go is between ‹ and ›. Collected
#: from the documented forms before the rules; every secret is made up.
_P = "hunter2correct"  # a password that has no shape of its own
_B = "c2VjcmV0LXNlY3JldC1zZWNyZXQ="
_X = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
_R = "Zk8vQ2pLm4Xw9RtY7bNc3HdJ"
_M = "wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEY0"
FORMS = {
    "tuple": f"auth=('robot', '‹{_R}›')",
    "password of": f"password of the mailbox: ‹{_P}›",
    "own publish key": f"GPULEDGER_PUBLISH_KEY=‹{_P}›",
    "mysql -p": f"mysql -u root -p‹{_P}› shop",
    "sshpass joined": f"sshpass -p‹{_P}› ssh host",
    "docker login -p": f"docker login -u robot -p ‹{_P}› registry.example",
    "curl -u joined": f"curl -urobot:‹{_P}› https://x.example",
    "curl cookie": f"curl -b 'session=‹{_P}›' https://x.example",
    "smbclient -U": f"smbclient -U robot%‹{_P}› //nas/share",
    "net use": f"net use Z: \\\\nas\\x /user:robot ‹{_P}›",
    "putty Password": f"putty.exe -load x -pw ‹{_P}›",
    "setx": f"setx API_TOKEN ‹{_P}›",
    "powershell securestring": f"ConvertTo-SecureString '‹{_P}›' -AsPlainText -Force",
    "npm config": f"npm config set //registry.example/:_authToken ‹{_P}›",
    "netrc": f"machine api.example login robot password ‹{_P}›",
    "pgpass": f"db.example:5432:shop:robot:‹{_P}›",
    "kubernetes secret": f"kind: Secret\ndata:\n  password: ‹{_B}›\n",
    "htpasswd": "robot:‹$apr1$Zs3mJtK5$kB1xFq9mRr2uXo4y0nWvA/›",
    "shadow yescrypt": "root:‹$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7›:19000",
    "wpa_supplicant": f'network={{ ssid="x" psk="‹{_P}›" }}',
    "wireguard PresharedKey": f"PresharedKey = ‹{_M}abc=›",
    "dockerfile ENV": f"ENV API_TOKEN ‹{_P}›",
    "web.config": f'<add key="ApiToken" value="‹{_P}›" />',
    "yaml block": f"password: |\n  ‹{_P}›\n",
    "json escaped": f'{{\\"password\\": \\"‹{_P}›\\"}}',
    "yaml name and value": f"- name: DB_PASSWORD\n  value: ‹{_P}›\n",
    "PuTTY key": f"PuTTY-User-Key-File-3: ssh-ed25519\nComment: x\nPrivate-Lines: 1\n‹{_M}{_B}›\nPrivate-MAC: ‹{_X}{_X}›\n",
    "PEM encrypted": f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n‹{_M}›\n-----END ENCRYPTED PRIVATE KEY-----",
    "AWS both in a line": f"AKIAIOSFODNN7EXAMPLE ‹{_M[:40]}›",
    "AWS configure": f"AWS Secret Access Key [None]: ‹{_M}›",
    "AWS bedrock": f"‹ABSKQmVkcm9ja0FQSUtleS{_M}{_M}{_M}›",
    "Vault unseal": f"Unseal Key 1: ‹{_M}abc=›",
    "Azure client secret": "the value ‹abc8Q~DeFgHiJkLmNoPqRsTuVwXyZ0123456789ab› is wrong",
    "GitHub": f"‹ghp_{_X}abcd›",
    "GitLab runner": f"‹GR1348941{_X[:20]}›",
    "Hugging Face": f"‹hf_{_M[:34]}›",
    "Fireworks": f"‹fw_{_M[:22]}›",
    "Slack": f"‹xoxb-123456789012-{_X}›",
    "SendGrid": f"‹SG.{_M[:22]}.{_M}abc›",
    "Square": f"‹sq0csp-{_M}abc›",
    "Google service account": f'"private_key": "-----BEGIN PRIVATE KEY-----\\n‹{_M}›\\n-----END PRIVATE KEY-----\\n"',
    "Firebase": f"‹AAAA{_M[:7]}:APA91b{_M}{_M}{_M}›",
    "Doppler": f"‹dp.pt.{_M}›",
    "1Password": f"‹ops_eyJ{_M}{_M}›",
    "JWT": f"‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{_M}›",
    "digest": f'Authorization: Digest username="x", response="‹{_X}›"',
    "redis URL": f"redis://:‹{_P}›@cache:6379/0",
    "sentence is": f"your password is ‹{_P}›",
    "sentence was": f"the API key was: ‹{_P}›",
    "password for": f"Password for robot: ‹{_P}›",
    "invalid key": f"Incorrect API key provided: ‹sk-{_X}›",
    "seed words": "seed phrase: ‹abandon ability able about above absent absorb abstract absurd abuse access accident›",
    "recovery": "recovery code: ‹abcde-12345-fghij›",
    "option of two words": '--token "‹two and-more›"',
    "option behind a command": "gpuledger pull --db-password=‹zX9-q7Kd_secretvalue›",
    "Databricks": f"‹dapi{_X}›",
    "Terraform of hex": f"Ab3dEf6hIj9kLm.atlasv1.‹{_X}›",
    "Airtable": f"patAb3dEf6hIj9kLm.‹{_X}{_X}›",
    "Twilio": "SK‹0123456789abcdef0123456789abcdef›",
    "Mailgun": f"key-‹{_X}›",
    "Shopify": f"shpat_‹{_X}›",
    "GitLab": "glpat-‹AbCdEf0123456789wxyz›",
    "GitLab trigger": f"glptt-‹{_X}›",
    "Google": "‹AIzaSyA1234567890abcdefghijklmnopqrstu›",
    "age": "AGE-SECRET-KEY-1‹QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L›",
    "PEM": f"-----BEGIN RSA PRIVATE KEY-----\n‹{_M}›\n-----END RSA PRIVATE KEY-----",
    "header": f"Authorization: Bearer ‹{_P}›",
    "header of GitHub": f"authorization: token ‹{_P}›",
    "second cookie": f"cookie: a=1; b=‹{_P}›",
    "curl --user": f"curl --user 'robot:‹{_P}›' shop",
    "bot of Telegram": "https://api.telegram.org/bot123456789:‹XXXXyyyy1234XXXXyyyy1234›/getMe",
    "Teams hook": f"https://x.webhook.office.com/webhookb2/‹{_X}@{_X}/IncomingWebhook/{_X}›",
    "Estonian": f"Parool: ‹{_P}›",
    "German": f"Zugangscode: ‹{_P}›",
    "French": f"mot de passe : ‹{_P}›",
    "wireless": f"wifi-key: ‹{_P}›",
    "chat": f"slack://‹{_R}›/B/C",
    "mail": f"mailtos://robot:‹{_P}›@mail.example?to=a@b.example",
}
EVERYDAY = """
GeForce RTX 4090 24GB GDDR6X, 2x 8-pin, dual fan
Passmark: 38,412 points; passive cooling, pass-through 12VHPWR
PNY GeForce RTX 4070: 12GB | Dual Slot --- in stock
Secretlab chair: 499 EUR
The-slot: 2.5 wide; dsnow edition
암호화폐 채굴용 그래픽카드: 중고
토큰화 속도: 35 tok/s
Parolan lighting: no
Item 123456789:ABC in the list
Senhance cooler: 2 fans
48 GB ECC, TDP: 300 W --- see --format csv
run it with --context 8192 --precision int4
use --data-dir D, or the setting data_dir
Geheimtipp: RTX 3060 für 289 €
색상: 블랙, 배송: 무료, 가격: 1,599,000원
容量: 24GB, 价格: 12999元, 显存: GDDR6X
価格: 298,000円 送料: 無料
cena: 8 499,00 zł, dostawa: 0 zł, gwarancja: 36 miesięcy
Preis: 1.599,00 €, Lieferung: 3-5 Tage, Zustand: neu
prix : 1 599,00 €, livraison : gratuite
SKU: 14-932-611, MPN: ROG-STRIX-RTX4090-O24G, GTIN: 4711081957829
1// 0 and 12345678:A
""".strip().splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_an_address_shows_no_value_that_is_not_known_to_be_harmless(name: str) -> None:
    for url in (
        f"https://shop.example/p?{name}={SECRET}&page=2",
        f"https://shop.example/p?page=2&{name.lower()}={SECRET}",
        f"https://shop.example/p;{name}={SECRET}?page=2",
        f"https://shop.example/p?page=2#{name}={SECRET}",
        f"https://u:{SECRET}@shop.example/p?page=2",
        f"https://shop.example/p?page=2&next=https%3A%2F%2Fother.example%2F%3F{name}%3D{SECRET}",
    ):
        shown = redact(url)
        assert SECRET not in shown
        assert SECRET not in redact_text(f"could not read {url}: refused")
        assert shown.startswith("https://shop.example/p")
        assert "page=2" in shown
        assert redact(shown) == shown


@pytest.mark.parametrize("name", [name for name in (*NAMES, *OF_TEXTS) if name not in COMMON])
def test_a_text_shows_no_value_under_the_name_of_a_secret(name: str) -> None:
    forms = (
        "{n}={s}", "{n}: {s}", '"{n}": "{s}"', "'{n}': '{s} and more'", "--{n}={s}", "{n} = {s}", "'{n}' => '{s}'",
        "export {n}='{s}'", "<{n}>{s}</{n}>",
    )  # fmt: skip
    for text in forms:
        assert SECRET not in redact_text("it failed with " + text.format(n=name, s=SECRET) + " (status 403)"), text


@pytest.mark.parametrize(
    "url",
    [
        "https://www.amazon.com/s?k=geforce+rtx+graphics+card&rh=n%3A284822&page=2",
        "https://prod.danawa.com/list/?cate=112753&page=3", "https://shop.co.kr/goods/view?goodsNo=1000012345",
        "https://www.microcenter.com/search/search_results.aspx?N=4294966937&NTK=all&storeid=029",
        "https://prices.azure.com/api/retail/prices?api-version=2023-01-01-preview&$filter=serviceName%20eq%20%27Virtual%20Machines%27&$skip=1000",
        "https://shop.example/rtx-4090-gaming-oc-24g/p/N82E16814137771?Item=9SIA4REA", "file:quote.csv", "no address",
        "file:offers #2 (new?).csv",
        "https://shop.example/a?b=c", "https://shop.example/?q=a%C3%A9",
    ],
)  # fmt: skip
def test_what_says_which_page_it_is_stays(url: str) -> None:
    assert redact(url) == url


def test_two_pages_stay_two() -> None:
    """Whatever the shop calls its number: a record of one must not be taken for the other's."""
    first, second = (redact(f"https://shop.example/p?artikelkennung=kart{n}-x") for n in (1, 2))
    assert first != second
    assert "kart" not in first + second
    # A secret leaves no trace, by which it could be guessed.
    assert redact(f"https://shop.example/p?token={SECRET}") == "https://shop.example/p?token=REDACTED"
    assert redact("http://me:secret@[/") == "…@[/", "also of what is no address"


@pytest.mark.parametrize(
    "text",
    [
        "1,200 tokens per second at tokens_per_s=12.5", "newegg ok: 26 rows, $1,749.99", "the key of the listing is N82E16",
        "published gpuledger-20261122T030000Z.duckdb",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "raise source_timeout_s in the settings", "session ended at 03:00:12", "keyboard: US", "line 12: no column",
    ],
)  # fmt: skip
def test_everyday_text_stays(text: str) -> None:
    assert redact_text(text) == text


def test_what_a_shop_writes_stays() -> None:
    assert [redact_text(line) for line in EVERYDAY] == EVERYDAY
    assert redact_text("give --token --page 2") == "give --token --page 2"


def test_an_error_is_redacted_when_it_is_made() -> None:
    """So the ledger, the run log, the archive and every message have what is left."""
    failure = errors.ConnectionFailed(
        "https://shop.example/p",
        f"HTTPSConnectionPool: retries exceeded with url: /p?client_secret={SECRET}&refresh_token={SECRET}",
    )
    assert SECRET not in str(failure)
    assert SECRET not in json.dumps([failure.url, failure.seen, failure.action])
    assert SECRET not in repr(failure)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 60_000, "a." * 30_000, "a=" * 30_000, "a1" * 30_000, "eyJ" * 20_000, "://" * 20_000, "token" * 10_000,
        "https://x/" + "a1" * 30_000, "a://" * 20_000, "cookie:" * 10_000, "x%3D" * 10_000, "a" * 9 + " " * 60_000,
    ],
)  # fmt: skip
def test_a_long_text_takes_no_longer_than_its_length(text: str) -> None:
    """A page may be all one word; with a rule that looks from each letter to the end this would not end today."""
    assert len(redact_text(text)) <= 2 * len(text)
    assert len(redact(text)) <= 2 * len(text)


@pytest.mark.parametrize("before", ["주소는", "가격", "값", "価格は", "цена", "é", "_", "1"])
def test_an_address_is_known_right_behind_a_word(before: str) -> None:
    """Korean and Japanese put no space there, and neither may have what put the text together."""
    hidden = "hunter2xZ_thewholesecret"
    for address in (f"https://u:{hidden}@h.example/a", f"https://h.example/a?token={hidden}", f"redis://:{hidden}@db"):
        assert hidden not in redact_text(f"{before}{address}")


@pytest.mark.parametrize("before", ["토큰", "값", "鍵", "é"])
def test_a_key_is_known_right_behind_a_word(before: str) -> None:
    hidden = "0123456789ABCDEFabcd"
    for key in (
        f"AKIA{hidden}",
        f"ghp_{hidden}",
        f"hf_{hidden}",
        f"bearer {hidden}",
        f"cookie: a={hidden}",
        f"Authorization: {hidden}",
    ):
        assert hidden not in redact_text(f"{before}{key}")


@pytest.mark.parametrize("form", FORMS)
def test_no_piece_of_a_secret_is_left_of_a_form_in_which_programs_write_it(form: str) -> None:
    shown = redact_text(re.sub("[‹›]", "", FORMS[form]))
    assert "***" in shown
    for secret in re.findall("‹(.*?)›", FORMS[form], re.DOTALL):
        assert [piece for piece in re.findall(r"[^\s'\"]{6,}", secret) if piece in shown] == []


@pytest.mark.parametrize(
    "text",
    [
        "the token is invalid", "your password is wrong", "a token is 4.5 bits, and the first token 350 ms later",
        "qwen3-32b gives 1200 tokens per s", "the API key was refused by https://shop.example/a",
        "name: RTX-4090, value: 1,749.99", "docker run -p 8080:80 registry.example/app",
        "gpuledger buy --model qwen3-32b -p int4",
        "listen on db.example:5432: refused", "10:20:30:40:50", "gpuledger watch --workload llm-decode --new-low 90d",
        "machine a100-8x login node", "s.chat is no model", "비밀번호는 환경에 둡니다", "the secret of the price",
        f"signed with another key than RW{'Qz1' * 18}", "GeForceRTX4090GamingOC24GB",
    ],
)  # fmt: skip
def test_a_sentence_without_a_secret_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text
