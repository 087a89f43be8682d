module toolgate.example/rest

go 1.24
