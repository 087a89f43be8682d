module github.com/toolgate/toolgate/sdk/clients/go

go 1.24.0
