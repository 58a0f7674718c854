// Sibyl, embedded: everything in one header.
#pragma once

#include <sibyl/database.h>
#include <sibyl/error.h>
#include <sibyl/rows.h>
#include <sibyl/value.h>
