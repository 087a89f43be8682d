package toolgate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookTolerance is how old, or how much in the future, a delivery may be.
const WebhookTolerance = 5 * time.Minute

// VerifyWebhook answers the event of a delivery, if its signature is right and it is not too old at now, as
// Standard Webhooks describes (https://www.standardwebhooks.com).
//
// payload is the body as it arrived, not parsed and written again. Answer a delivery that gives an error of
// KindWebhookVerification with status 400.
func VerifyWebhook(payload []byte, headers http.Header, secret string, now time.Time) (map[string]any, error) {
	given := make(map[string]string, 3)
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		value := headers.Get(name)
		if value == "" {
			return nil, unverified("the header " + name + " is missing")
		}
		given[name] = value
	}
	sentAt, err := strconv.ParseUint(given["webhook-timestamp"], 10, 40)
	if err != nil {
		return nil, unverified("webhook-timestamp is not a number of seconds")
	}
	if away := now.Sub(time.Unix(int64(sentAt), 0)).Abs(); away > WebhookTolerance {
		return nil, unverified("webhook-timestamp is too far from now")
	}
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, unverified("the secret is not whsec_ and base64")
	}
	signer := hmac.New(sha256.New, key)
	signer.Write([]byte(given["webhook-id"] + "." + given["webhook-timestamp"] + "."))
	signer.Write(payload)
	expected := signer.Sum(nil)
	// Several signatures are sent while a secret is being replaced.
	for _, part := range strings.Split(given["webhook-signature"], " ") {
		version, text, _ := strings.Cut(part, ",")
		offered, err := base64.StdEncoding.DecodeString(text)
		if err == nil && version == "v1" && hmac.Equal(offered, expected) {
			var event map[string]any
			if err := json.Unmarshal(payload, &event); err != nil || event == nil {
				return nil, unverified("the body is not an event")
			}
			return event, nil
		}
	}
	return nil, unverified("no signature matches")
}

func unverified(message string) *Error {
	return &Error{Kind: KindWebhookVerification, Code: "invalid_signature", Message: message}
}
