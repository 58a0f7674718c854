// The embedded API of Sibyl: includes all public headers.
#pragma once

#include <sibyl/database.h>
#include <sibyl/error.h>
#include <sibyl/rows.h>
#include <sibyl/value.h>
