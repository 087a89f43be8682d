module github.com/toolgate/toolgate/sdk/go

go 1.24.0
