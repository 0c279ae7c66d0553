package conversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/drawknife/drawknife/api/option"
)

// Path is where the webhook is served.
const Path = "/convert"

// DefaultMaxBytes is the maximum size of a review. An API server converts a list in one review, so MaxBytes limits how many objects can be
// listed in a version other than the stored one: about ten thousand NodeClaims.
const DefaultMaxBytes = 64 << 20

// Handler answers ConversionReviews of apiextensions.k8s.io/v1. It is safe for concurrent use. A malformed review gets an HTTP
// error status. If objects can't be converted, the review fails and its message names all of them.
type Handler struct {
	// Converter converts.
	Converter Converter
	// MaxBytes is the size of the largest review that is read; nil means DefaultMaxBytes.
	MaxBytes *int64
	// Logger logs objects that could not be converted; nil discards them.
	Logger *slog.Logger
}

// ServeHTTP answers one ConversionReview.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "a ConversionReview is posted", http.StatusMethodNotAllowed)
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != runtime.ContentTypeJSON {
		http.Error(w, "a ConversionReview is JSON: Content-Type has to be application/json", http.StatusUnsupportedMediaType)
		return
	}
	most := option.Or(h.MaxBytes, DefaultMaxBytes)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("the ConversionReview has more than %d bytes: list fewer objects at a time", most), http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "reading the ConversionReview: "+err.Error(), http.StatusBadRequest)
		return
	}
	var review apiextensionsv1.ConversionReview
	if err := json.Unmarshal(body, &review); err != nil {
		http.Error(w, "not a ConversionReview: "+err.Error(), http.StatusBadRequest)
		return
	}
	if review.APIVersion != apiextensionsv1.SchemeGroupVersion.String() || review.Kind != "ConversionReview" || review.Request == nil {
		http.Error(w, "not a ConversionReview of apiextensions.k8s.io/v1 with a request", http.StatusBadRequest)
		return
	}
	review.Response = h.respond(r, review.Request)
	review.Request = nil
	text, err := json.Marshal(review)
	if err != nil {
		http.Error(w, "writing the ConversionReview: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_, _ = w.Write(text) // if this fails, the client has gone away, which does not matter
}

// mostNamed is the maximum number of objects in a message.
const mostNamed = 10

// respond converts all objects of a review. If an object can't be converted, the result is an error that names it.
func (h *Handler) respond(r *http.Request, request *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	response := &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	var failed []string
	converter := h.Converter.remembering()
	for _, o := range request.Objects {
		text, err := one(r.Context(), converter, o.Raw, request.DesiredAPIVersion)
		if err != nil {
			failed = append(failed, err.Error())
			continue
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: text})
	}
	if len(failed) == 0 {
		return response
	}
	if h.Logger != nil {
		h.Logger.Warn("cannot convert some objects, rejecting the whole request", "objects", len(failed), "first", failed[0])
	}
	more := ""
	if left := len(failed) - mostNamed; left > 0 {
		more = fmt.Sprintf("; and %d more", left)
		failed = failed[:mostNamed]
	}
	response.ConvertedObjects = nil
	response.Result = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Message: strings.Join(failed, "; ") + more}
	return response
}

// one converts an object. If the conversion panics, only this object fails, and the controller continues.
func one(ctx context.Context, converter Converter, text []byte, to string) (out []byte, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			out, err = nil, &Error{Object: "an object", From: "its version", To: to, Err: fmt.Errorf("the converter failed unexpectedly: %v", fault)}
		}
	}()
	return converter.Convert(ctx, text, to)
}
