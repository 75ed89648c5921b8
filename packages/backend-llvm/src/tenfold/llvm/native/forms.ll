; Calls that are those of other operators: `clamp(x, min=0)` is `clamp_min(x, 0)`, and `div(x, y, rounding_mode="floor")` that of the
; rounded quotient. Of a function's words are 41 what it does here (1 clamp, 2 div) and 42 and 43 the functions of the other operators:
; of the lower and the upper limit, or of the two ways to round. Arguments are floats of one dtype on the CPU, and numbers; all other
; calls go the operator's own way, whose words are the errors.

@g_rounding_mode = global ptr null
@g_floor = global ptr null
@g_trunc = global ptr null

; Whether something goes with a tensor of floats: a number (not beside half precision), or a tensor of its dtype.
define internal i1 @goes_beside(ptr %x, ptr %v) {
entry:
  %x_array = call ptr @field(ptr %x, ptr @p_array)
  %x_dtype = call ptr @at(ptr %x_array, i64 56)
  %number = call i1 @is_number(ptr %v)
  br i1 %number, label %beside, label %tensor
beside:
  %half = call i1 @is_half(ptr %x_dtype)
  %wide = xor i1 %half, true
  ret i1 %wide
tensor:
  %is = call i1 @is_floating_tensor(ptr %v, i1 false)
  br i1 %is, label %alike, label %no
alike:
  %v_array = call ptr @field(ptr %v, ptr @p_array)
  %v_dtype = call ptr @at(ptr %v_array, i64 56)
  %same = icmp eq ptr %x_dtype, %v_dtype
  ret i1 %same
no:
  ret i1 false
}

; The call of a function with two arguments; null for an error, which is dropped: the operator has its own words.
define internal ptr @of_two(ptr %function, ptr %a, ptr %b) {
entry:
  %given = alloca [2 x ptr]
  store ptr %a, ptr %given
  %second = getelementptr ptr, ptr %given, i64 1
  store ptr %b, ptr %second
  %result = call ptr @PyObject_Vectorcall(ptr %function, ptr %given, i64 2, ptr null)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %clear, label %done
clear:
  call void @forget()
  ret ptr null
done:
  ret ptr %result
}

; A limited tensor; null for calls that are served otherwise.
define internal ptr @limited(ptr %words, ptr %args, i64 %n, ptr %names) {
entry:
  %values = alloca [8 x ptr]
  %fits = call i1 @arrange(ptr %words, ptr %args, i64 %n, ptr %names, i64 0, ptr %values)
  br i1 %fits, label %look, label %no
look:
  %None = load ptr, ptr @g_None
  %x = load ptr, ptr %values
  %low = call ptr @pointer(ptr %values, i64 1)
  %high = call ptr @pointer(ptr %values, i64 2)
  %floats = call i1 @is_floating_tensor(ptr %x, i1 false)
  br i1 %floats, label %which, label %no
which:
  %no_low = icmp eq ptr %low, %None
  %no_high = icmp eq ptr %high, %None
  br i1 %no_low, label %only_high, label %low_there
only_high:
  br i1 %no_high, label %no, label %high_fits
high_fits:
  %high_goes = call i1 @goes_beside(ptr %x, ptr %high)
  br i1 %high_goes, label %upper, label %no
low_there:
  %low_goes = call i1 @goes_beside(ptr %x, ptr %low)
  br i1 %low_goes, label %one_or_two, label %no
one_or_two:
  br i1 %no_high, label %lower, label %both
both:
  %both_go = call i1 @goes_beside(ptr %x, ptr %high)
  br i1 %both_go, label %how, label %no
how:  ; two numbers are met in one pass, unless each has its node; where both limits are equal the upper one has the gradient
  %low_number = call i1 @is_number(ptr %low)
  %high_number = call i1 @is_number(ptr %high)
  %mixed = xor i1 %low_number, %high_number
  br i1 %mixed, label %no, label %numbers
numbers:
  br i1 %low_number, label %recorded, label %tensors
recorded:
  %node = call ptr @field(ptr %x, ptr @p_node)
  %unrecorded = icmp eq ptr %node, %None
  br i1 %unrecorded, label %no, label %twice
tensors:
  %low_node = call ptr @field(ptr %low, ptr @p_node)
  %low_free = icmp eq ptr %low_node, %None
  br i1 %low_free, label %twice, label %no
twice:
  %by_low = call ptr @pointer(ptr %words, i64 42)
  %by_high = call ptr @pointer(ptr %words, i64 43)
  %first = call ptr @of_two(ptr %by_low, ptr %x, ptr %low)
  %lost = icmp eq ptr %first, null
  br i1 %lost, label %no, label %then
then:
  %second = call ptr @of_two(ptr %by_high, ptr %first, ptr %high)
  call void @Py_DecRef(ptr %first)
  ret ptr %second
lower:
  %lower_of = call ptr @pointer(ptr %words, i64 42)
  %lowered = call ptr @of_two(ptr %lower_of, ptr %x, ptr %low)
  ret ptr %lowered
upper:
  %upper_of = call ptr @pointer(ptr %words, i64 43)
  %uppered = call ptr @of_two(ptr %upper_of, ptr %x, ptr %high)
  ret ptr %uppered
no:
  ret ptr null
}

; A rounded quotient; null for calls that are served otherwise.
define internal ptr @rounded_quotient(ptr %words, ptr %args, i64 %n, ptr %names) {
entry:
  %pair = icmp eq i64 %n, 2
  %named = icmp ne ptr %names, null
  %c = and i1 %pair, %named
  br i1 %c, label %name, label %no
name:
  %count = call i64 @word(ptr %names, i64 2)
  %one = icmp eq i64 %count, 1
  %its = call ptr @pointer(ptr %names, i64 3)
  %mode_name = load ptr, ptr @g_rounding_mode
  %is_mode = icmp eq ptr %its, %mode_name
  %only = and i1 %one, %is_mode
  br i1 %only, label %mode, label %no
mode:
  %given = call ptr @pointer(ptr %args, i64 2)
  %floor = load ptr, ptr @g_floor
  %trunc = load ptr, ptr @g_trunc
  %floored = icmp eq ptr %given, %floor
  %truncated = icmp eq ptr %given, %trunc
  %known = or i1 %floored, %truncated
  br i1 %known, label %tensor, label %no
tensor:
  %x = load ptr, ptr %args
  %y = call ptr @pointer(ptr %args, i64 1)
  %floats = call i1 @is_floating_tensor(ptr %x, i1 false)
  br i1 %floats, label %beside, label %no
beside:
  %goes = call i1 @goes_beside(ptr %x, ptr %y)
  br i1 %goes, label %call, label %no
call:
  %place = select i1 %floored, i64 42, i64 43
  %function = call ptr @pointer(ptr %words, i64 %place)
  %result = call ptr @of_two(ptr %function, ptr %x, ptr %y)
  ret ptr %result
no:
  ret ptr null
}

; The result of a call that is one of others; null for any other.
define internal ptr @form_call(ptr %words, i64 %form, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  br i1 %usual, label %which, label %no
which:
  %limits = icmp eq i64 %form, 1
  br i1 %limits, label %limit, label %round
limit:
  %limited = call ptr @limited(ptr %words, ptr %args, i64 %n, ptr %names)
  ret ptr %limited
round:
  %rounded = call ptr @rounded_quotient(ptr %words, ptr %args, i64 %n, ptr %names)
  ret ptr %rounded
no:
  ret ptr null
}
