"""Creates certificates for tests with the openssl tool: authorities, and certificates that they sign."""
import pathlib
import subprocess


def openssl(*arguments, cwd):
    subprocess.run(["openssl", *arguments], cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Authority:
    """A certificate authority with its own folder."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder) / name
        self.folder.mkdir(parents=True)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", f"/CN={name}", "-keyout", "ca.key", "-out", "ca.pem", cwd=self.folder)

    @property
    def certificate(self):
        return str(self.folder / "ca.pem")

    def sign(self, name, alternatives="DNS:localhost,IP:127.0.0.1"):
        """Returns the files of a certificate and of its key."""
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={alternatives}\n" if alternatives else "")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/O=Sibyl/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.csr", cwd=self.folder)
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                "30", "-extfile", f"{name}.ext", "-out", f"{name}.pem", cwd=self.folder)
        return str(self.folder / f"{name}.pem"), str(self.folder / f"{name}.key")

    def keystore(self, name, password):
        """Returns a PKCS12 file, like those of keytool, with a certificate of sign()."""
        openssl("pkcs12", "-export", "-in", f"{name}.pem", "-inkey", f"{name}.key", "-certfile", "ca.pem", "-out",
                f"{name}.p12", "-passout", f"pass:{password}", cwd=self.folder)
        return str(self.folder / f"{name}.p12")
