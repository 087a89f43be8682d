//! TLS of the gateway's own address, with a certificate that is changed while it serves.
//!
//! One configuration for the life of the process; only the certificate in it is swapped, so that a
//! handshake sees one or the other, and sessions that are open go on.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{Accept, TlsAcceptor};

use crate::config::TlsSettings;

/// Certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{path} cannot be read")]
    Read {
        path: String,
        #[source]
        cause: std::io::Error,
    },
    #[error("{path} holds no {what} in PEM form")]
    Pem { path: String, what: &'static str },
    #[error("the private key {0} is open to everybody; run: chmod o= {0}")]
    OpenKey(String),
    #[error("the private key {key} does not belong to the certificate {cert}")]
    Mismatch {
        cert: String,
        key: String,
        #[source]
        cause: rustls::Error,
    },
    #[error("TLS cannot be configured")]
    Configure(#[source] rustls::Error),
}

/// What answers handshakes. Cheap to clone.
#[derive(Clone)]
pub struct ServerTls {
    settings: Arc<TlsSettings>,
    certificate: Arc<SwappedCertificate>,
    acceptor: TlsAcceptor,
}

#[derive(Debug)]
struct SwappedCertificate(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for SwappedCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl ServerTls {
    /// Reads certificate and key.
    pub fn open(settings: &TlsSettings) -> Result<Self, TlsError> {
        let certificate = ArcSwap::from_pointee(read(settings)?);
        let certificate = Arc::new(SwappedCertificate(certificate));
        let provider = Arc::new(ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Configure)?
            .with_no_client_auth()
            .with_cert_resolver(certificate.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            settings: Arc::new(settings.clone()),
            certificate,
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }

    /// Reads the files again. Handshakes from now on see what they hold.
    ///
    /// # Errors
    /// The certificate of before stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        self.certificate.0.store(Arc::new(read(&self.settings)?));
        Ok(())
    }

    pub(super) fn accept<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> Accept<S> {
        self.acceptor.accept(stream)
    }
}

fn read(settings: &TlsSettings) -> Result<CertifiedKey, TlsError> {
    let (cert, key) = (&settings.cert, &settings.key);
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|cause| unreadable(cert, "certificate", cause))?;
    if chain.is_empty() {
        return Err(TlsError::Pem {
            path: cert.display().to_string(),
            what: "certificate",
        });
    }
    let about = std::fs::metadata(key).map_err(|cause| TlsError::Read {
        path: key.display().to_string(),
        cause,
    })?;
    // A group may share it, as Debian's ssl-cert does.
    if about.permissions().mode() & 0o007 != 0 {
        return Err(TlsError::OpenKey(key.display().to_string()));
    }
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|cause| unreadable(key, "private key", cause))?;
    let name = |path: &PathBuf| path.display().to_string();
    CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|cause| {
        TlsError::Mismatch {
            cert: name(cert),
            key: name(key),
            cause,
        }
    })
}

fn unreadable(path: &Path, what: &'static str, cause: pem::Error) -> TlsError {
    let path = path.display().to_string();
    match cause {
        pem::Error::Io(cause) => TlsError::Read { path, cause },
        _ => TlsError::Pem { path, what },
    }
}
