// Package mototest connects the AWS SDK, and the clients of package sdk, to a moto server (package internal/moto), for the
// integration tests of the provider's packages.
//
//	cloud := server.Start(t)
//	api := mototest.Clients(t, cloud).EC2(sdk.Normal)
//	raw := ec2.NewFromConfig(mototest.Config(cloud)) // independent of the code under test
package mototest

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/internal/moto"
)

// Region of moto's default VPC.
const Region = "us-east-1"

// Config returns a configuration for clients of the AWS SDK. moto checks no credentials.
func Config(cloud *moto.Cloud) aws.Config {
	return aws.Config{Region: Region, BaseEndpoint: aws.String(cloud.URL()), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
}

// Settings returns settings for clients of package sdk that retry at once.
func Settings(cloud *moto.Cloud) sdk.Config {
	config, attempts, backoff := Config(cloud), 3, time.Millisecond
	return sdk.Config{Base: &config, Endpoint: cloud.URL(), MaxAttempts: &attempts, MaxBackoff: &backoff}
}

// Clients returns clients with Settings.
func Clients(t testing.TB, cloud *moto.Cloud) *sdk.Clients {
	t.Helper()
	clients, err := sdk.Load(t.Context(), Settings(cloud))
	if err != nil {
		t.Fatal(err)
	}
	return clients
}
