package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
	"github.com/georag/georag/internal/secret"
)

// DefaultBaseURL is where requests go when base_url is empty.
const DefaultBaseURL = "https://api.openai.com/v1"

// ErrAnswer: the model server answered, and the answer cannot be used.
var ErrAnswer = errors.New("unusable answer")

// connect prepares the options with which the official library sends a request our way: to the configured server,
// with its key or none, without retries of its own, and with our reading of refusals.
func connect(c modelhttp.Config, timeout time.Duration) (*modelhttp.Client, []option.RequestOption, error) {
	client, err := modelhttp.New(c, DefaultBaseURL, timeout)
	if err != nil {
		return nil, nil, err
	}
	options := []option.RequestOption{
		option.WithBaseURL(client.BaseURL()),
		option.WithHTTPClient(client.HTTP()),
		option.WithMaxRetries(0),
		option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			res, err := next(req)
			if err != nil {
				return nil, err
			}
			return res, modelhttp.Check(res, client.Key())
		}),
	}
	if !client.Key().IsZero() {
		options = append(options, option.WithAPIKey(client.Key().Reveal()))
	}
	return client, options, nil
}

// rejected reports whether the server understood the request and refused one of its settings, so that the same
// request without an optional one may pass.
func rejected(err error) bool {
	var status *modelhttp.StatusError
	return errors.As(err, &status) && (status.Status == http.StatusBadRequest || status.Status == http.StatusUnprocessableEntity)
}

// unusable names what kept an answer from being used: a refusal or a broken connection stays what it is, and all else
// is the answer's own fault. Its words come from the server, so they are made fit to print.
func unusable(err error, key secret.Secret) error {
	var status *modelhttp.StatusError
	err = modelhttp.Wrap(err)
	if err == nil || errors.As(err, &status) || errors.Is(err, core.ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %s", ErrAnswer, modelhttp.Message(err.Error(), key))
}
