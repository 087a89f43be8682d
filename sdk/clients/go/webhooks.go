package toolgate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Webhooks are events that the server sends.
type Webhooks struct{ c *Client }

// Create sends events to an address. Only this answer has the secret.
func (w *Webhooks) Create(ctx context.Context, params CreateWebhookParams) (*WebhookWithSecret, error) {
	return call[WebhookWithSecret](ctx, w.c, "create_webhook", nil, params)
}

// List is the webhooks, newest first.
func (w *Webhooks) List(ctx context.Context) ([]Webhook, error) {
	found, err := call[WebhookList](ctx, w.c, "list_webhooks", nil, nil)
	if err != nil {
		return nil, err
	}
	return found.Webhooks, nil
}

// Get reads a webhook.
func (w *Webhooks) Get(ctx context.Context, webhookID string) (*Webhook, error) {
	return call[Webhook](ctx, w.c, "get_webhook", []string{webhookID}, nil)
}

// Update changes the given fields. Enabling it clears earlier failures and sends the waiting deliveries.
func (w *Webhooks) Update(ctx context.Context, webhookID string, params UpdateWebhookParams) (*Webhook, error) {
	return call[Webhook](ctx, w.c, "update_webhook", []string{webhookID}, params)
}

// Delete removes a webhook with its deliveries.
func (w *Webhooks) Delete(ctx context.Context, webhookID string) (*DeletedWebhook, error) {
	return call[DeletedWebhook](ctx, w.c, "delete_webhook", []string{webhookID}, nil)
}

// Rotate makes a new secret; the previous one also signs for another 24 hours, or for OverlapHours.
func (w *Webhooks) Rotate(ctx context.Context, webhookID string, params RotateWebhookSecretParams) (*WebhookWithSecret, error) {
	return call[WebhookWithSecret](ctx, w.c, "rotate_webhook_secret", []string{webhookID}, params)
}

// Test sends an event webhook.test, whichever events the webhook subscribes to.
func (w *Webhooks) Test(ctx context.Context, webhookID string) (*WebhookDelivery, error) {
	return call[WebhookDelivery](ctx, w.c, "test_webhook", []string{webhookID}, nil)
}

// Deliveries is the deliveries of the webhook's events, newest first. Limit is the size of a page.
func (w *Webhooks) Deliveries(ctx context.Context, webhookID string, params ListWebhookDeliveriesParams) iter.Seq2[WebhookDelivery, error] {
	return paged(params.Cursor, func(cursor string) ([]WebhookDelivery, string, error) {
		params.Cursor = cursor
		page, err := w.DeliveriesPage(ctx, webhookID, params)
		if err != nil {
			return nil, "", err
		}
		return page.Deliveries, page.NextCursor, nil
	})
}

// DeliveriesPage is one page of Deliveries.
func (w *Webhooks) DeliveriesPage(ctx context.Context, webhookID string, params ListWebhookDeliveriesParams) (*WebhookDeliveryPage, error) {
	return call[WebhookDeliveryPage](ctx, w.c, "list_webhook_deliveries", []string{webhookID}, params)
}

// Resend sends the event of a delivery once more, under the same event id.
func (w *Webhooks) Resend(ctx context.Context, webhookID, deliveryID string) (*WebhookDelivery, error) {
	return call[WebhookDelivery](ctx, w.c, "resend_webhook_delivery", []string{webhookID, deliveryID}, nil)
}

// Verify answers the event of a delivery, if it is genuine; see VerifyWebhook.
func (*Webhooks) Verify(payload []byte, headers http.Header, secret string) (map[string]any, error) {
	return VerifyWebhook(payload, headers, secret, time.Now())
}

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
