package capacityblocks

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	blocks "github.com/drawknife/drawknife/aws/capacityblocks"
	"github.com/drawknife/drawknife/aws/sdk"
)

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

var (
	errNone = errors.New("EC2 offers no such block: try another --hours, fewer --instances, or a later --until")
	errGone = errors.New("EC2 no longer offers this capacity block, and nothing was bought: list the offerings again and get another one approved")
)

// run is one run of the command.
type run struct {
	options Options
	flags   *flag.FlagSet
	query   blocks.Query
	region  string
	output  string
	// approval contains the values of --buy, --fee, --currency and --approved-by; tags contains those of --tag.
	approval blocks.Approval
	tags     map[string]string
}

func newRun(o Options) *run {
	r := &run{options: o, flags: flag.NewFlagSet("capacityblocks", flag.ContinueOnError), output: "text", tags: map[string]string{}}
	r.query = blocks.Query{Instances: 1, Hours: 24}
	r.approval.Currency = "USD"
	f := r.flags
	f.SetOutput(io.Discard)
	f.StringVar(&r.query.InstanceType, "instance-type", "", "`TYPE` of the instances, such as p5.48xlarge; required")
	f.Func("instances", "`NUMBER` of instances (default 1)", whole(&r.query.Instances))
	f.Func("hours", "length of the block in `HOURS`: whole days, such as 24 or 48 (default 24)", whole(&r.query.Hours))
	f.Func("from", "earliest start, as `TIME` such as 2026-12-01T00:00:00Z (default: EC2's)", moment(&r.query.From))
	f.Func("until", "latest end, as `TIME` (default: EC2's)", moment(&r.query.Until))
	f.StringVar(&r.region, "region", "", "`REGION` of AWS (default: that of your environment)")
	f.StringVar(&r.output, "output", r.output, "`FORMAT` of the answer: text or json")
	f.Var(f.Lookup("output").Value, "o", "")
	f.StringVar(&r.approval.OfferingID, "buy", "", "buy the offering with this `ID`; needs --fee and --approved-by")
	f.StringVar(&r.approval.UpfrontFee, "fee", "", "with --buy: `PRICE` of the whole block, as listed without --buy")
	f.StringVar(&r.approval.Currency, "currency", r.approval.Currency, "with --buy: `CURRENCY` of the price, as listed without --buy")
	f.StringVar(&r.approval.By, "approved-by", "", "with --buy: `NAME` of the person who approved the purchase")
	f.Func("tag", "with --buy: `KEY=VALUE` of a tag for the capacity reservation; repeat it for more", r.tag)
	return r
}

func whole(into *int32) func(string) error {
	return func(text string) error {
		var n int32
		if _, err := fmt.Sscanf(text, "%d", &n); err != nil || fmt.Sprint(n) != text || n < 1 {
			return errors.New("must be a whole number from 1")
		}
		*into = n
		return nil
	}
}

func moment(into *time.Time) func(string) error {
	return func(text string) (err error) {
		if *into, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("must be a time such as 2026-12-01T00:00:00Z")
		}
		return nil
	}
}

func (r *run) tag(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return errors.New("must be KEY=VALUE")
	}
	r.tags[key] = value
	return nil
}

// check finds missing and invalid flags, and flags that can't be combined.
func (r *run) check(args []string) error {
	given := map[string]bool{}
	r.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case len(args) > 0:
		return &usageError{fmt.Sprintf("%q: there are no arguments, only flags", args[0])}
	case r.output != "text" && r.output != "json":
		return &usageError{fmt.Sprintf("--output %s: must be text or json", r.output)}
	case r.query.InstanceType == "":
		return &usageError{"--instance-type: name a type that is sold in capacity blocks, such as p5.48xlarge"}
	case given["buy"] && r.approval.OfferingID == "":
		return &usageError{"--buy: name the ID of an offering, as it was listed"}
	case given["buy"] && (r.approval.UpfrontFee == "" || r.approval.By == ""):
		return &usageError{"--buy " + r.approval.OfferingID + ": repeat the price that was shown with --fee, and name who approved it with --approved-by"}
	}
	for _, name := range []string{"fee", "currency", "approved-by", "tag"} {
		if given[name] && !given["buy"] {
			return &usageError{"--" + name + ": use it only with --buy"}
		}
	}
	return nil
}

// answer lists offerings, or buys one.
func (r *run) answer(ctx context.Context, args []string, w io.Writer) error {
	if err := r.check(args); err != nil {
		return err
	}
	connect := r.options.Connect
	if connect == nil {
		connect = load
	}
	api, err := connect(ctx, r.region)
	if err != nil {
		return err
	}
	offerings, err := blocks.Find(ctx, api, r.query)
	if err != nil {
		return err
	}
	if r.approval.OfferingID != "" {
		return r.buy(ctx, api, offerings, w)
	}
	if r.output == "json" {
		if err := writeJSON(w, list{"CapacityBlockOfferings", offerings}); err != nil {
			return err
		}
	} else if len(offerings) > 0 {
		if err := writeTable(w, offerings); err != nil {
			return err
		}
	}
	if len(offerings) == 0 {
		return errNone
	}
	return nil
}

func load(ctx context.Context, region string) (sdk.EC2CapacityBlockAPI, error) {
	clients, err := sdk.Load(ctx, sdk.Config{Region: region})
	if err != nil {
		return nil, err
	}
	return clients.EC2CapacityBlocks(sdk.Normal), nil
}

// buy buys the approved offering if it is still offered on the approved terms.
func (r *run) buy(ctx context.Context, api sdk.EC2CapacityBlockAPI, offerings []blocks.Offering, w io.Writer) error {
	at := slices.IndexFunc(offerings, func(o blocks.Offering) bool { return o.ID == r.approval.OfferingID })
	if at < 0 {
		return fmt.Errorf("--buy %s: %w", r.approval.OfferingID, errGone)
	}
	id, err := blocks.Purchase(ctx, api, offerings[at], r.approval, r.tags)
	if err != nil {
		return err
	}
	if r.output == "json" {
		return writeJSON(w, purchase{"CapacityBlockPurchase", offerings[at], r.approval.By, id})
	}
	_, err = fmt.Fprintf(w, "bought %s\napproved by %s\n%s\n", offerings[at], r.approval.By, id)
	return err
}

// list is the output of --output json for offerings, cheapest first.
type list struct {
	Kind      string            `json:"kind"`
	Offerings []blocks.Offering `json:"offerings"`
}

// purchase is the output of --output json after a capacity block was bought.
type purchase struct {
	Kind                  string          `json:"kind"`
	Offering              blocks.Offering `json:"offering"`
	ApprovedBy            string          `json:"approvedBy"`
	CapacityReservationID string          `json:"capacityReservationID"`
}

func writeJSON(w io.Writer, v any) error {
	if l, ok := v.(list); ok && l.Offerings == nil {
		l.Offerings = []blocks.Offering{}
		v = l
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func writeTable(w io.Writer, offerings []blocks.Offering) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "OFFERING\tINSTANCES\tTYPE\tZONE\tSTART\tHOURS\tPRICE\tEACH AND HOUR")
	for _, o := range offerings {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%g\t%s %s\t%.4f\n", o.ID, o.Instances, o.InstanceType, o.Zone, o.Start.UTC().Format(time.RFC3339), o.Hours, o.UpfrontFee, o.Currency, o.PerInstanceHour)
	}
	return t.Flush()
}
