//! The cryptography of JSON Web Tokens (RFC 7515, 7518), by libraries that the gateway has anyway:
//! HMAC for its own tokens, `ring` for tokens that an OpenID Connect provider has signed.
//!
//! Installed once for the process by [`install`]. Nothing else signs or verifies a token.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature as rs;
use sha2::Sha256;
use signature::{Signer, Verifier};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the process's provider; a second call changes nothing.
pub fn install() {
    let _ = PROVIDER.install_default();
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    if *algorithm != Algorithm::HS256 || key.family() != AlgorithmFamily::Hmac {
        return Err(ErrorKind::UnsupportedAlgorithm.into());
    }
    Ok(Box::new(Hs256(key.as_bytes().to_vec().into())))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let fits = key.family() == family(*algorithm);
    match (algorithm, key.kind()) {
        _ if !fits => Err(ErrorKind::InvalidAlgorithm.into()),
        (Algorithm::HS256, DecodingKeyKind::SecretOrDer(secret)) => {
            Ok(Box::new(Hs256(secret.clone().into())))
        }
        (_, kind) => Ok(Box::new(Public {
            algorithm: *algorithm,
            key: kind.clone(),
        })),
    }
}

fn family(algorithm: Algorithm) -> AlgorithmFamily {
    match algorithm {
        Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => AlgorithmFamily::Hmac,
        Algorithm::ES256 | Algorithm::ES384 => AlgorithmFamily::Ec,
        Algorithm::EdDSA => AlgorithmFamily::Ed,
        _ => AlgorithmFamily::Rsa,
    }
}

/// HMAC with SHA-256 (RFC 7518, section 3.2).
struct Hs256(zeroize::Zeroizing<Vec<u8>>);

impl Hs256 {
    fn mac(&self, message: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        mac.update(message);
        mac
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(self.mac(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let mac = self.mac(message);
        mac.verify_slice(signature)
            .map_err(|_| signature::Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

/// A provider's public key.
struct Public {
    algorithm: Algorithm,
    key: DecodingKeyKind,
}

impl Verifier<Vec<u8>> for Public {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let refused = |_| signature::Error::new();
        match &self.key {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let how: &rs::RsaParameters = match self.algorithm {
                    Algorithm::RS256 => &rs::RSA_PKCS1_2048_8192_SHA256,
                    Algorithm::RS384 => &rs::RSA_PKCS1_2048_8192_SHA384,
                    Algorithm::RS512 => &rs::RSA_PKCS1_2048_8192_SHA512,
                    Algorithm::PS256 => &rs::RSA_PSS_2048_8192_SHA256,
                    Algorithm::PS384 => &rs::RSA_PSS_2048_8192_SHA384,
                    Algorithm::PS512 => &rs::RSA_PSS_2048_8192_SHA512,
                    _ => return Err(signature::Error::new()),
                };
                let key = rs::RsaPublicKeyComponents { n, e };
                key.verify(how, message, signature).map_err(refused)
            }
            DecodingKeyKind::SecretOrDer(point) => {
                let how: &dyn rs::VerificationAlgorithm = match self.algorithm {
                    Algorithm::ES256 => &rs::ECDSA_P256_SHA256_FIXED,
                    Algorithm::ES384 => &rs::ECDSA_P384_SHA384_FIXED,
                    Algorithm::EdDSA => &rs::ED25519,
                    _ => return Err(signature::Error::new()),
                };
                let key = rs::UnparsedPublicKey::new(how, point);
                key.verify(message, signature).map_err(refused)
            }
        }
    }
}

impl JwtVerifier for Public {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
