; The backward pass of tenfold-autograd's engine without the interpreter: walk(roots, keep_graph, captures) pushes the gradient of one
; root to the leaves, into their `.grad` or, where captures is a dictionary with all of them and nothing else, there; it says
; NotImplemented, before it has done anything, where Python has to: more roots, hooks on a node. backward.py fills the w_… variables. The state's words: 0 the entries, 1 how many, 2 room for how many, 3 a table that finds them by their
; nodes, 4 its mask, 5 a heap of entries that are ready, 6 its size, 7 an entry that is ready and need not go through the heap,
; 8 the first of the leaves that are ready, 9 the captures or null. (Entries are numbered from 1 there, 0 is none.) An entry's words: 0 the node, 1 the
; gradient so far, 2 how many gradients it waits for, 3 the node's number, 4 what it is, 5 whether the gradient is a sum made here,
; 6 the next of the leaves that are ready, 7 the words of its class: 0 what it is, 1 whether it has something to release.
; A node is 0 an operation, 1 a leaf, 2 one of several results, 3 an operation with several results, 4 what only Python knows.

@w_next = global i64 0    ; where a node's fields lie
@w_extra = global i64 0
@w_number = global i64 0
@w_shape = global i64 0
@w_ref = global i64 0     ; of a leaf's node
@w_parent = global i64 0  ; of the node of one of several results
@w_index = global i64 0
@w_grad = global i64 0    ; where a tensor's gradient lies
@w_learn = global ptr null   ; tells what a node is
@w_fit = global ptr null     ; brings a gradient to its node's shape
@w_more = global ptr null    ; adds a further term
@w_visit = global ptr null   ; runs a node that has got hooks meanwhile
@w_leaf = global ptr null    ; accumulates into a leaf
@w_catch = global ptr null   ; puts a gradient among the captures, by way of hooks
@w_add = global ptr null
@w_add_in_place = global ptr null
@w_apply = global ptr null     ; names
@w_release = global ptr null
@w_RuntimeError = global ptr null
@w_classes = global [2048 x i64] zeroinitializer  ; classes of nodes and their words, each at or behind the place that its address says
@w_changed = private constant [52 x i8] c"backward: the graph was changed while it was walked\00"
@w_fewer = private constant [72 x i8] c"backward: a node returned fewer gradients than its operation has inputs\00"

declare ptr @PyMem_RawMalloc(i64)
declare ptr @PyMem_RawCalloc(i64, i64)
declare ptr @PyMem_RawRealloc(ptr, i64)
declare void @PyMem_RawFree(ptr)
declare i32 @PyList_SetSlice(ptr, i64, i64, ptr)
declare ptr @PySequence_Tuple(ptr)
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr)

define internal void @set_pointer(ptr %words, i64 %index, ptr %value) alwaysinline {
  %p = getelementptr ptr, ptr %words, i64 %index
  store ptr %value, ptr %p
  ret void
}

define internal ptr @entry_of(ptr %state, i64 %i) alwaysinline {
  %entries = call ptr @pointer(ptr %state, i64 0)
  %at = shl i64 %i, 3
  %e = getelementptr i64, ptr %entries, i64 %at
  ret ptr %e
}

define internal i64 @scattered(ptr %object, i64 %mask) alwaysinline {
  %number = ptrtoint ptr %object to i64
  %mixed = mul i64 %number, -7046029254386353131
  %high = lshr i64 %mixed, 32
  %place = and i64 %high, %mask
  ret i64 %place
}

; Where the table has a node's entry, or would have it.
define internal ptr @place_of(ptr %state, ptr %node) {
entry:
  %table = call ptr @pointer(ptr %state, i64 3)
  %mask = call i64 @word(ptr %state, i64 4)
  %first = call i64 @scattered(ptr %node, i64 %mask)
  br label %look
look:
  %k = phi i64 [%first, %entry], [%knext, %other]
  %slot = getelementptr i64, ptr %table, i64 %k
  %i = load i64, ptr %slot
  %empty = icmp eq i64 %i, 0
  br i1 %empty, label %done, label %compare
compare:
  %e = call ptr @entry_of(ptr %state, i64 %i)
  %known = load ptr, ptr %e
  %same = icmp eq ptr %known, %node
  br i1 %same, label %done, label %other
other:
  %k1 = add i64 %k, 1
  %knext = and i64 %k1, %mask
  br label %look
done:
  ret ptr %slot
}

; Twice the room; false without memory.
define internal i1 @grow(ptr %state) {
entry:
  %entries = call ptr @pointer(ptr %state, i64 0)
  %count = call i64 @word(ptr %state, i64 1)
  %room = call i64 @word(ptr %state, i64 2)
  %twice = shl i64 %room, 1
  %with_none = add i64 %twice, 1
  %bytes = shl i64 %with_none, 6
  %moved = call ptr @PyMem_RawRealloc(ptr %entries, i64 %bytes)
  %lost = icmp eq ptr %moved, null
  br i1 %lost, label %no, label %table
table:
  call void @set_pointer(ptr %state, i64 0, ptr %moved)
  %places = shl i64 %twice, 2
  %made = call ptr @PyMem_RawCalloc(i64 %places, i64 8)
  %lost_table = icmp eq ptr %made, null
  br i1 %lost_table, label %no, label %put
put:
  %before = call ptr @pointer(ptr %state, i64 3)
  call void @PyMem_RawFree(ptr %before)
  %mask = sub i64 %places, 1
  call void @set_word(ptr %state, i64 2, i64 %twice)
  call void @set_pointer(ptr %state, i64 3, ptr %made)
  call void @set_word(ptr %state, i64 4, i64 %mask)
  br label %each
each:
  %i = phi i64 [1, %put], [%inext, %one]
  %end = icmp sgt i64 %i, %count
  br i1 %end, label %yes, label %one
one:
  %e = call ptr @entry_of(ptr %state, i64 %i)
  %node = load ptr, ptr %e
  %slot = call ptr @place_of(ptr %state, ptr %node)
  store i64 %i, ptr %slot
  %inext = add i64 %i, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; The words of a node's class, as a number; a smaller one says itself what the node is, -1 is an error.
define internal i64 @class_of(ptr %node) {
entry:
  %told = alloca ptr
  %type = call ptr @at(ptr %node, i64 8)
  %first = call i64 @scattered(ptr %type, i64 1023)
  br label %look
look:
  %k = phi i64 [%first, %entry], [%knext, %other]
  %at = shl i64 %k, 1
  %p = getelementptr i64, ptr @w_classes, i64 %at
  %known = load ptr, ptr %p
  %same = icmp eq ptr %known, %type
  br i1 %same, label %found, label %perhaps
perhaps:
  %empty = icmp eq ptr %known, null
  br i1 %empty, label %ask, label %other
other:
  %k1 = add i64 %k, 1
  %knext = and i64 %k1, 1023
  br label %look
found:
  %words = call i64 @word(ptr %p, i64 1)
  ret i64 %words
ask:
  store ptr %node, ptr %told
  %learn = load ptr, ptr @w_learn
  %answer = call ptr @PyObject_Vectorcall(ptr %learn, ptr %told, i64 1, ptr null)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %fail, label %read
read:
  %value = call i64 @PyLong_AsSsize_t(ptr %answer)
  call void @Py_DecRef(ptr %answer)
  ret i64 %value
fail:
  ret i64 -1
}

; The entry of a node, made where there is none: 0 where Python has to walk, -1 for an error.
define internal i64 @enter(ptr %state, ptr %node) {
entry:
  %slot = call ptr @place_of(ptr %state, ptr %node)
  %i = load i64, ptr %slot
  %there = icmp ne i64 %i, 0
  br i1 %there, label %done, label %classify
done:
  ret i64 %i
classify:
  %class = call i64 @class_of(ptr %node)
  %failed = icmp slt i64 %class, 0
  br i1 %failed, label %fail, label %kind
kind:
  %has_words = icmp sgt i64 %class, 15
  br i1 %has_words, label %of_words, label %which
of_words:
  %words = inttoptr i64 %class to ptr
  %kind_word = load i64, ptr %words
  br label %which
which:
  %what = phi i64 [%class, %kind], [%kind_word, %of_words]
  %rest = phi ptr [null, %kind], [%words, %of_words]
  %None = load ptr, ptr @g_None
  %next = call ptr @field(ptr %node, ptr @w_next)
  %no_next = icmp eq ptr %next, null
  %unknown = icmp eq i64 %what, 4
  %c0 = or i1 %no_next, %unknown
  br i1 %c0, label %refuse, label %edges
edges:
  %Tuple = load ptr, ptr @g_tuple
  %next_type = call ptr @at(ptr %next, i64 8)
  %is_tuple = icmp eq ptr %next_type, %Tuple
  br i1 %is_tuple, label %extra, label %refuse
extra:  ; one of several results has none of its own
  %extras = call ptr @field(ptr %node, ptr @w_extra)
  %bare = icmp eq ptr %extras, %None
  %output = icmp eq i64 %what, 2
  %free = or i1 %bare, %output
  br i1 %free, label %number, label %refuse
number:
  %leaf = icmp eq i64 %what, 1
  %unnumbered = or i1 %leaf, %output
  br i1 %unnumbered, label %add, label %read_number
read_number:
  %number_object = call ptr @field(ptr %node, ptr @w_number)
  %no_number = icmp eq ptr %number_object, null
  br i1 %no_number, label %refuse, label %as_number
as_number:
  %n = call i64 @PyLong_AsSsize_t(ptr %number_object)
  %odd = icmp eq i64 %n, -1
  br i1 %odd, label %clear, label %add
clear:
  call void @PyErr_Clear()
  br label %refuse
add:
  %its_number = phi i64 [0, %number], [%n, %as_number]
  %count = call i64 @word(ptr %state, i64 1)
  %index = add i64 %count, 1
  store i64 %index, ptr %slot
  call void @set_word(ptr %state, i64 1, i64 %index)
  %e = call ptr @entry_of(ptr %state, i64 %index)
  call void @Py_IncRef(ptr %node)
  call void @set_pointer(ptr %e, i64 0, ptr %node)
  call void @set_word(ptr %e, i64 1, i64 0)
  call void @set_word(ptr %e, i64 2, i64 0)
  call void @set_word(ptr %e, i64 3, i64 %its_number)
  call void @set_word(ptr %e, i64 4, i64 %what)
  call void @set_word(ptr %e, i64 5, i64 0)
  call void @set_word(ptr %e, i64 6, i64 0)
  call void @set_pointer(ptr %e, i64 7, ptr %rest)
  %room = call i64 @word(ptr %state, i64 2)
  %full = icmp eq i64 %index, %room
  br i1 %full, label %more, label %added
more:
  %grown = call i1 @grow(ptr %state)
  br i1 %grown, label %added, label %refuse
added:
  ret i64 %index
refuse:
  ret i64 0
fail:
  ret i64 -1
}

; All nodes that a root leads to, and how many gradients each waits for: 1, or as `enter` says.
define internal i64 @explore(ptr %state) {
entry:
  %None = load ptr, ptr @g_None
  br label %each
each:
  %i = phi i64 [1, %entry], [%inext, %edge]
  %count = call i64 @word(ptr %state, i64 1)
  %end = icmp sgt i64 %i, %count
  br i1 %end, label %done, label %one
one:
  %e = call ptr @entry_of(ptr %state, i64 %i)
  %node = load ptr, ptr %e
  %edges = call ptr @field(ptr %node, ptr @w_next)
  %n = call i64 @word(ptr %edges, i64 2)
  %inext = add i64 %i, 1
  br label %edge
edge:
  %k = phi i64 [0, %one], [%knext, %next]
  %last = icmp eq i64 %k, %n
  br i1 %last, label %each, label %look
look:
  %at = add i64 %k, 3
  %target = call ptr @pointer(ptr %edges, i64 %at)
  %no = icmp eq ptr %target, %None
  br i1 %no, label %next, label %enter_it
enter_it:
  %j = call i64 @enter(ptr %state, ptr %target)
  %entered = icmp sgt i64 %j, 0
  br i1 %entered, label %count_it, label %stop
count_it:
  %t = call ptr @entry_of(ptr %state, i64 %j)
  %waits = call i64 @word(ptr %t, i64 2)
  %waits1 = add i64 %waits, 1
  call void @set_word(ptr %t, i64 2, i64 %waits1)
  br label %next
next:
  %knext = add i64 %k, 1
  br label %edge
done:
  ret i64 1
stop:
  ret i64 %j
}

; Whether one entry runs before another: the node made last.
define internal i1 @earlier(ptr %state, i64 %a, i64 %b) alwaysinline {
  %x = call ptr @entry_of(ptr %state, i64 %a)
  %y = call ptr @entry_of(ptr %state, i64 %b)
  %m = call i64 @word(ptr %x, i64 3)
  %n = call i64 @word(ptr %y, i64 3)
  %later = icmp sgt i64 %m, %n
  %equal = icmp eq i64 %m, %n
  %v = call i64 @word(ptr %x, i64 0)
  %w = call i64 @word(ptr %y, i64 0)
  %lower = icmp ult i64 %v, %w
  %tie = and i1 %equal, %lower
  %first = or i1 %later, %tie
  ret i1 %first
}

define internal void @push(ptr %state, i64 %i) {
entry:
  %heap = call ptr @pointer(ptr %state, i64 5)
  %size = call i64 @word(ptr %state, i64 6)
  %size1 = add i64 %size, 1
  call void @set_word(ptr %state, i64 6, i64 %size1)
  br label %rise
rise:
  %hole = phi i64 [%size, %entry], [%above, %move]
  %top = icmp eq i64 %hole, 0
  br i1 %top, label %put, label %compare
compare:
  %hole1 = sub i64 %hole, 1
  %above = lshr i64 %hole1, 1
  %there = call i64 @word(ptr %heap, i64 %above)
  %first = call i1 @earlier(ptr %state, i64 %i, i64 %there)
  br i1 %first, label %move, label %put
move:
  call void @set_word(ptr %heap, i64 %hole, i64 %there)
  br label %rise
put:
  call void @set_word(ptr %heap, i64 %hole, i64 %i)
  ret void
}

; The first of the heap, which has one.
define internal i64 @pop(ptr %state) {
entry:
  %heap = call ptr @pointer(ptr %state, i64 5)
  %size = call i64 @word(ptr %state, i64 6)
  %left = sub i64 %size, 1
  call void @set_word(ptr %state, i64 6, i64 %left)
  %found = load i64, ptr %heap
  %moved = call i64 @word(ptr %heap, i64 %left)
  br label %sink
sink:
  %hole = phi i64 [0, %entry], [%child, %move]
  %twice = shl i64 %hole, 1
  %one = add i64 %twice, 1
  %two = add i64 %twice, 2
  %bottom = icmp sge i64 %one, %left
  br i1 %bottom, label %put, label %children
children:
  %a = call i64 @word(ptr %heap, i64 %one)
  %single = icmp eq i64 %two, %left
  br i1 %single, label %chosen, label %both
both:
  %b = call i64 @word(ptr %heap, i64 %two)
  %second = call i1 @earlier(ptr %state, i64 %b, i64 %a)
  %of_both = select i1 %second, i64 %two, i64 %one
  br label %chosen
chosen:
  %child = phi i64 [%one, %children], [%of_both, %both]
  %c = call i64 @word(ptr %heap, i64 %child)
  %before = call i1 @earlier(ptr %state, i64 %c, i64 %moved)
  br i1 %before, label %move, label %put
move:
  call void @set_word(ptr %heap, i64 %hole, i64 %c)
  br label %sink
put:
  call void @set_word(ptr %heap, i64 %hole, i64 %moved)
  ret i64 %found
}

; Whether something is a tensor of the CPU, of no class but Tensor.
define internal i1 @is_plain(ptr %t) alwaysinline {
entry:
  %Tensor = load ptr, ptr @p_Tensor
  %type = call ptr @at(ptr %t, i64 8)
  %is = icmp eq ptr %type, %Tensor
  br i1 %is, label %key, label %no
key:
  %CPU = load ptr, ptr @p_CPU
  %its = call ptr @field(ptr %t, ptr @p_key)
  %here = icmp eq ptr %its, %CPU
  br i1 %here, label %array, label %no
array:
  %a = call ptr @field(ptr %t, ptr @p_array)
  %unset = icmp eq ptr %a, null
  br i1 %unset, label %no, label %kind
kind:
  %Array = load ptr, ptr @g_ndarray
  %a_type = call ptr @at(ptr %a, i64 8)
  %solid = icmp eq ptr %a_type, %Array
  ret i1 %solid
no:
  ret i1 false
}

; Whether an array's shape is that of a tuple of whole numbers.
define internal i1 @has_shape(ptr %array, ptr %shape) {
entry:
  %Tuple = load ptr, ptr @g_tuple
  %Int = load ptr, ptr @g_int
  %missing = icmp eq ptr %shape, null
  br i1 %missing, label %no, label %type
type:
  %of = call ptr @at(ptr %shape, i64 8)
  %is = icmp eq ptr %of, %Tuple
  br i1 %is, label %rank, label %no
rank:
  %n = call i64 @word(ptr %shape, i64 2)
  %nd = call i64 @dimensions(ptr %array)
  %dims = call ptr @at(ptr %array, i64 32)
  %same = icmp eq i64 %n, %nd
  br i1 %same, label %each, label %no
each:
  %d = phi i64 [0, %rank], [%dnext, %compare]
  %end = icmp eq i64 %d, %n
  br i1 %end, label %yes, label %one
one:
  %at = add i64 %d, 3
  %item = call ptr @pointer(ptr %shape, i64 %at)
  %item_type = call ptr @at(ptr %item, i64 8)
  %whole = icmp eq ptr %item_type, %Int
  br i1 %whole, label %read, label %no
read:
  %size = call i64 @PyLong_AsSsize_t(ptr %item)
  %have = call i64 @word(ptr %dims, i64 %d)
  %dnext = add i64 %d, 1
  %equal = icmp eq i64 %size, %have
  br i1 %equal, label %compare, label %no
compare:
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; A gradient in the shape of the node of an entry, as a new reference; null for an error.
define internal ptr @fitted(ptr %e, ptr %r, ptr %from) {
entry:
  %told = alloca [3 x ptr]
  %what = call i64 @word(ptr %e, i64 4)
  %several = icmp eq i64 %what, 3
  br i1 %several, label %as_it_is, label %plain
plain:
  %is = call i1 @is_plain(ptr %r)
  br i1 %is, label %compare, label %ask
compare:
  %node = load ptr, ptr %e
  %shape = call ptr @field(ptr %node, ptr @w_shape)
  %array = call ptr @field(ptr %r, ptr @p_array)
  %fits = call i1 @has_shape(ptr %array, ptr %shape)
  br i1 %fits, label %as_it_is, label %ask
as_it_is:
  call void @Py_IncRef(ptr %r)
  ret ptr %r
ask:
  %target = load ptr, ptr %e
  %number = call ptr @field(ptr %from, ptr @w_number)
  call void @set_pointer(ptr %told, i64 0, ptr %r)
  call void @set_pointer(ptr %told, i64 1, ptr %target)
  call void @set_pointer(ptr %told, i64 2, ptr %number)
  %fit = load ptr, ptr @w_fit
  %answer = call ptr @PyObject_Vectorcall(ptr %fit, ptr %told, i64 3, ptr null)
  ret ptr %answer
}

; Add a term, whose reference is taken, to the gradient of an entry that has one; false for an error.
define internal i1 @add_term(ptr %e, ptr %r) {
entry:
  %told = alloca [3 x ptr]
  %known = call ptr @pointer(ptr %e, i64 1)
  %owned = call i64 @word(ptr %e, i64 5)
  %here = icmp ne i64 %owned, 0
  call void @set_pointer(ptr %told, i64 0, ptr %known)
  call void @set_pointer(ptr %told, i64 1, ptr %r)
  %p = call i1 @is_plain(ptr %known)
  %q = call i1 @is_plain(ptr %r)
  %both = and i1 %p, %q
  br i1 %both, label %which, label %ask
which:
  br i1 %here, label %in_place, label %new
in_place:
  %add_in_place = load ptr, ptr @w_add_in_place
  %written = call ptr @PyObject_Vectorcall(ptr %add_in_place, ptr %told, i64 2, ptr null)
  %unwritten = icmp eq ptr %written, null
  br i1 %unwritten, label %fail, label %drop_written
drop_written:
  call void @Py_DecRef(ptr %written)
  call void @Py_DecRef(ptr %r)
  ret i1 true
new:
  %add = load ptr, ptr @w_add
  %sum = call ptr @PyObject_Vectorcall(ptr %add, ptr %told, i64 2, ptr null)
  %no_sum = icmp eq ptr %sum, null
  br i1 %no_sum, label %fail, label %keep_sum
keep_sum:
  %own = call i1 @is_plain(ptr %sum)
  br label %replace
ask:
  %True = load ptr, ptr @g_True
  %False = load ptr, ptr @g_False
  %flag = select i1 %here, ptr %True, ptr %False
  call void @set_pointer(ptr %told, i64 2, ptr %flag)
  %more = load ptr, ptr @w_more
  %pair = call ptr @PyObject_Vectorcall(ptr %more, ptr %told, i64 3, ptr null)
  %no_pair = icmp eq ptr %pair, null
  br i1 %no_pair, label %fail, label %of_pair
of_pair:
  %total = call ptr @pointer(ptr %pair, i64 3)
  %total_flag = call ptr @pointer(ptr %pair, i64 4)
  %total_own = icmp eq ptr %total_flag, %True
  call void @Py_IncRef(ptr %total)
  call void @Py_DecRef(ptr %pair)
  br label %replace
replace:
  %found = phi ptr [%sum, %keep_sum], [%total, %of_pair]
  %found_own = phi i1 [%own, %keep_sum], [%total_own, %of_pair]
  %own_word = zext i1 %found_own to i64
  call void @set_word(ptr %e, i64 5, i64 %own_word)
  call void @set_pointer(ptr %e, i64 1, ptr %found)
  call void @Py_DecRef(ptr %known)
  call void @Py_DecRef(ptr %r)
  ret i1 true
fail:
  call void @Py_DecRef(ptr %r)
  ret i1 false
}

; One gradient fewer to wait for; an entry that waits for no other goes where it is found next; false for an error.
define internal i1 @arrived(ptr %state, i64 %i) {
entry:
  br label %again
again:
  %j = phi i64 [%i, %entry], [%parent_at, %deposited]
  %e = call ptr @entry_of(ptr %state, i64 %j)
  %waits = call i64 @word(ptr %e, i64 2)
  %left = sub i64 %waits, 1
  call void @set_word(ptr %e, i64 2, i64 %left)
  %ready = icmp eq i64 %left, 0
  br i1 %ready, label %which, label %yes
which:
  %what = call i64 @word(ptr %e, i64 4)
  switch i64 %what, label %operation [
    i64 1, label %leaf
    i64 2, label %result
  ]
leaf:
  %first = call i64 @word(ptr %state, i64 8)
  call void @set_word(ptr %e, i64 6, i64 %first)
  call void @set_word(ptr %state, i64 8, i64 %j)
  br label %yes
operation:
  %next = call i64 @word(ptr %state, i64 7)
  %none = icmp eq i64 %next, 0
  br i1 %none, label %is_next, label %push_it
is_next:
  call void @set_word(ptr %state, i64 7, i64 %j)
  br label %yes
push_it:
  call void @push(ptr %state, i64 %j)
  br label %yes
result:
  %node = load ptr, ptr %e
  %parent = call ptr @field(ptr %node, ptr @w_parent)
  %slot = call ptr @place_of(ptr %state, ptr %parent)
  %parent_at = load i64, ptr %slot
  %strange = icmp eq i64 %parent_at, 0
  br i1 %strange, label %changed, label %deposit_it
changed:
  %Error = load ptr, ptr @w_RuntimeError
  call void @PyErr_SetString(ptr %Error, ptr @w_changed)
  ret i1 false
deposit_it:
  %done = call i1 @deposit(ptr %state, ptr %e, i64 %parent_at)
  br i1 %done, label %deposited, label %no
deposited:
  br label %again
yes:
  ret i1 true
no:
  ret i1 false
}

; Put the gradient of one of several results into its place in the list that their node gets; false for an error.
define internal i1 @deposit(ptr %state, ptr %e, i64 %parent_at) {
entry:
  %told = alloca [3 x ptr]
  %g = call ptr @pointer(ptr %e, i64 1)
  %no_g = icmp eq ptr %g, null
  br i1 %no_g, label %yes, label %open
open:
  call void @set_pointer(ptr %e, i64 1, ptr null)
  %None = load ptr, ptr @g_None
  %node = load ptr, ptr %e
  %p = call ptr @entry_of(ptr %state, i64 %parent_at)
  %list = call ptr @pointer(ptr %p, i64 1)
  %no_list = icmp eq ptr %list, null
  br i1 %no_list, label %make, label %put
make:
  %parent = load ptr, ptr %p
  %shapes = call ptr @field(ptr %parent, ptr @w_shape)
  %n = call i64 @word(ptr %shapes, i64 2)
  %made = call ptr @PyList_New(i64 %n)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %fail, label %fill
fill:
  %k = phi i64 [0, %make], [%knext, %fill_one]
  %end = icmp eq i64 %k, %n
  br i1 %end, label %made_it, label %fill_one
fill_one:
  call void @Py_IncRef(ptr %None)
  %set = call i32 @PyList_SetItem(ptr %made, i64 %k, ptr %None)
  %knext = add i64 %k, 1
  br label %fill
made_it:
  call void @set_pointer(ptr %p, i64 1, ptr %made)
  br label %put
put:
  %slots = phi ptr [%list, %open], [%made, %made_it]
  %index_object = call ptr @field(ptr %node, ptr @w_index)
  %index = call i64 @PyLong_AsSsize_t(ptr %index_object)
  %items = call ptr @at(ptr %slots, i64 24)
  %known = call ptr @pointer(ptr %items, i64 %index)
  %empty = icmp eq ptr %known, %None
  br i1 %empty, label %store, label %add
store:
  %stored = call i32 @PyList_SetItem(ptr %slots, i64 %index, ptr %g)
  br label %yes
add:
  %False = load ptr, ptr @g_False
  call void @set_pointer(ptr %told, i64 0, ptr %known)
  call void @set_pointer(ptr %told, i64 1, ptr %g)
  call void @set_pointer(ptr %told, i64 2, ptr %False)
  %more = load ptr, ptr @w_more
  %pair = call ptr @PyObject_Vectorcall(ptr %more, ptr %told, i64 3, ptr null)
  %no_pair = icmp eq ptr %pair, null
  br i1 %no_pair, label %fail, label %of_pair
of_pair:
  %total = call ptr @pointer(ptr %pair, i64 3)
  call void @Py_IncRef(ptr %total)
  call void @Py_DecRef(ptr %pair)
  %replaced = call i32 @PyList_SetItem(ptr %slots, i64 %index, ptr %total)
  call void @Py_DecRef(ptr %g)
  br label %yes
yes:
  ret i1 true
fail:
  call void @Py_DecRef(ptr %g)
  ret i1 false
}

; Whether all leaves that were found are asked for and nothing else is, and every node leads to one: 1; 0 where not, -1 for an error.
define internal i64 @all_asked(ptr %state, ptr %captures) {
entry:
  %None = load ptr, ptr @g_None
  %count = call i64 @word(ptr %state, i64 1)
  br label %each
each:
  %i = phi i64 [1, %entry], [%inext, %next]
  %end = icmp sgt i64 %i, %count
  br i1 %end, label %done, label %one
one:
  %inext = add i64 %i, 1
  %e = call ptr @entry_of(ptr %state, i64 %i)
  %node = load ptr, ptr %e
  %what = call i64 @word(ptr %e, i64 4)
  %leaf = icmp eq i64 %what, 1
  %found = call ptr @PyDict_GetItemWithError(ptr %captures, ptr %node)
  %asked = icmp ne ptr %found, null
  %fits = icmp eq i1 %asked, %leaf
  br i1 %fits, label %leads, label %why
why:
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  %answer = sext i1 %failed to i64
  ret i64 %answer
leads:
  br i1 %leaf, label %next, label %edges
edges:
  %next_nodes = call ptr @field(ptr %node, ptr @w_next)
  %n = call i64 @word(ptr %next_nodes, i64 2)
  br label %edge
edge:
  %k = phi i64 [0, %edges], [%knext, %target]
  %nowhere = icmp eq i64 %k, %n
  br i1 %nowhere, label %no, label %target
target:
  %at = add i64 %k, 3
  %to = call ptr @pointer(ptr %next_nodes, i64 %at)
  %knext = add i64 %k, 1
  %unwanted = icmp eq ptr %to, %None
  br i1 %unwanted, label %edge, label %next
next:
  br label %each
done:
  ret i64 1
no:
  ret i64 0
}

; Put the gradient of an entry among the captures; false for an error.
define internal i1 @catch(ptr %e, ptr %captures) {
entry:
  %told = alloca [3 x ptr]
  %node = load ptr, ptr %e
  %g = call ptr @pointer(ptr %e, i64 1)
  %no_g = icmp eq ptr %g, null
  br i1 %no_g, label %yes, label %bare
bare:
  call void @set_pointer(ptr %e, i64 1, ptr null)
  %None = load ptr, ptr @g_None
  %extra = call ptr @field(ptr %node, ptr @w_extra)
  %hookless = icmp eq ptr %extra, %None
  br i1 %hookless, label %put, label %ask
put:
  %set = call i32 @PyDict_SetItem(ptr %captures, ptr %node, ptr %g)
  call void @Py_DecRef(ptr %g)
  %done = icmp eq i32 %set, 0
  ret i1 %done
ask:  ; it has got hooks meanwhile
  call void @set_pointer(ptr %told, i64 0, ptr %node)
  call void @set_pointer(ptr %told, i64 1, ptr %g)
  call void @set_pointer(ptr %told, i64 2, ptr %captures)
  %catcher = load ptr, ptr @w_catch
  %caught = call ptr @PyObject_Vectorcall(ptr %catcher, ptr %told, i64 3, ptr null)
  call void @Py_DecRef(ptr %g)
  %failed = icmp eq ptr %caught, null
  br i1 %failed, label %no, label %drop
drop:
  call void @Py_DecRef(ptr %caught)
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether two arrays have one number of dimensions and the same steps.
define internal i1 @same_steps(ptr %a, ptr %b) {
entry:
  %n = call i64 @dimensions(ptr %a)
  %m = call i64 @dimensions(ptr %b)
  %x = call ptr @at(ptr %a, i64 40)
  %y = call ptr @at(ptr %b, i64 40)
  %alike = icmp eq i64 %n, %m
  br i1 %alike, label %each, label %no
each:
  %d = phi i64 [0, %entry], [%dnext, %one]
  %end = icmp eq i64 %d, %n
  br i1 %end, label %yes, label %one
one:
  %v = call i64 @word(ptr %x, i64 %d)
  %w = call i64 @word(ptr %y, i64 %d)
  %dnext = add i64 %d, 1
  %same = icmp eq i64 %v, %w
  br i1 %same, label %each, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether nothing else refers to an object.
define internal i1 @is_ours(ptr %object) alwaysinline {
  %count = load i32, ptr %object
  %one = icmp eq i32 %count, 1
  ret i1 %one
}

; Add the gradient of an entry to its leaf's; false for an error.
define internal i1 @accumulate(ptr %e) {
entry:
  %told = alloca [3 x ptr]
  %node = load ptr, ptr %e
  %g = call ptr @pointer(ptr %e, i64 1)
  %no_g = icmp eq ptr %g, null
  br i1 %no_g, label %yes, label %bare
bare:
  call void @set_pointer(ptr %e, i64 1, ptr null)
  %None = load ptr, ptr @g_None
  %extra = call ptr @field(ptr %node, ptr @w_extra)
  %hookless = icmp eq ptr %extra, %None
  br i1 %hookless, label %who, label %visit
visit:  ; it has got hooks meanwhile
  %visitor = load ptr, ptr @w_visit
  %False = load ptr, ptr @g_False
  call void @set_pointer(ptr %told, i64 0, ptr %node)
  call void @set_pointer(ptr %told, i64 1, ptr %g)
  call void @set_pointer(ptr %told, i64 2, ptr %False)
  %visited = call ptr @PyObject_Vectorcall(ptr %visitor, ptr %told, i64 3, ptr null)
  br label %finish
who:
  %ref = call ptr @field(ptr %node, ptr @w_ref)
  %leaf = call ptr @PyObject_Vectorcall(ptr %ref, ptr %told, i64 0, ptr null)
  %failed = icmp eq ptr %leaf, null
  br i1 %failed, label %fail, label %gone
gone:
  %is_gone = icmp eq ptr %leaf, %None
  br i1 %is_gone, label %drop_both, label %kind
drop_both:
  call void @Py_DecRef(ptr %leaf)
  call void @Py_DecRef(ptr %g)
  br label %yes
kind:
  %type = call ptr @at(ptr %leaf, i64 8)
  %usual = call i1 @is_tensor(ptr %type)
  br i1 %usual, label %plain, label %ask
plain:
  %array = call ptr @plain_array(ptr %leaf, i32 0)
  %g_plain = call i1 @is_plain(ptr %g)
  %no_array = icmp eq ptr %array, null
  %leaf_node = call ptr @field(ptr %leaf, ptr @p_node)
  %own_node = icmp eq ptr %leaf_node, %node
  %has_array = xor i1 %no_array, true
  %c0 = and i1 %has_array, %g_plain
  %c = and i1 %c0, %own_node
  br i1 %c, label %present, label %ask
present:
  %known = call ptr @field(ptr %leaf, ptr @w_grad)
  %unset = icmp eq ptr %known, null
  %absent = icmp eq ptr %known, %None
  %first = or i1 %unset, %absent
  br i1 %first, label %keep, label %add
keep:  ; as it is, if nothing else refers to it
  %g_array = call ptr @field(ptr %g, ptr @p_array)
  %storage = call ptr @field(ptr %g, ptr @p_storage)
  %unshared = icmp eq ptr %storage, %None
  %ours = call i1 @is_ours(ptr %g)
  %array_ours = call i1 @is_ours(ptr %g_array)
  %steps = call i1 @same_steps(ptr %array, ptr %g_array)
  %k0 = and i1 %unshared, %ours
  %k1 = and i1 %array_ours, %steps
  %k = and i1 %k0, %k1
  br i1 %k, label %store, label %ask
store:
  call void @set_field(ptr %leaf, ptr @w_grad, ptr %g)
  call void @Py_DecRef(ptr %leaf)
  br i1 %unset, label %yes, label %drop_none
drop_none:
  call void @Py_DecRef(ptr %None)
  br label %yes
add:
  %known_plain = call i1 @is_plain(ptr %known)
  br i1 %known_plain, label %add_it, label %ask
add_it:
  call void @Py_IncRef(ptr %known)
  call void @set_pointer(ptr %told, i64 0, ptr %known)
  call void @set_pointer(ptr %told, i64 1, ptr %g)
  %add_in_place = load ptr, ptr @w_add_in_place
  %written = call ptr @PyObject_Vectorcall(ptr %add_in_place, ptr %told, i64 2, ptr null)
  call void @Py_DecRef(ptr %known)
  call void @Py_DecRef(ptr %leaf)
  br label %finish
ask:
  call void @Py_DecRef(ptr %leaf)
  br label %ask_python
ask_python:
  call void @set_pointer(ptr %told, i64 0, ptr %node)
  call void @set_pointer(ptr %told, i64 1, ptr %g)
  %slowly = load ptr, ptr @w_leaf
  %answer = call ptr @PyObject_Vectorcall(ptr %slowly, ptr %told, i64 2, ptr null)
  br label %finish
finish:
  %result = phi ptr [%written, %add_it], [%answer, %ask_python], [%visited, %visit]
  %raised = icmp eq ptr %result, null
  br i1 %raised, label %fail, label %drop
drop:
  call void @Py_DecRef(ptr %result)
  call void @Py_DecRef(ptr %g)
  br label %yes
yes:
  ret i1 true
fail:
  call void @Py_DecRef(ptr %g)
  ret i1 false
}

; What a node makes of its gradient: a tuple or list, None for nothing, null for an error.
define internal ptr @results_of(ptr %e, ptr %g, ptr %edges, i1 %keep) {
entry:
  %told = alloca [3 x ptr]
  %None = load ptr, ptr @g_None
  %node = load ptr, ptr %e
  %no_g = icmp eq ptr %g, null
  %given = select i1 %no_g, ptr %None, ptr %g
  call void @set_pointer(ptr %told, i64 0, ptr %node)
  call void @set_pointer(ptr %told, i64 1, ptr %given)
  %extra = call ptr @field(ptr %node, ptr @w_extra)
  %hookless = icmp eq ptr %extra, %None
  br i1 %hookless, label %usual, label %visit
visit:
  %True = load ptr, ptr @g_True
  %False = load ptr, ptr @g_False
  %kept = select i1 %keep, ptr %True, ptr %False
  call void @set_pointer(ptr %told, i64 2, ptr %kept)
  %visitor = load ptr, ptr @w_visit
  %visited = call ptr @PyObject_Vectorcall(ptr %visitor, ptr %told, i64 3, ptr null)
  ret ptr %visited
usual:
  br i1 %no_g, label %nothing, label %apply
nothing:
  call void @Py_IncRef(ptr %None)
  ret ptr %None
apply:
  call void @set_pointer(ptr %told, i64 2, ptr %edges)
  %name = load ptr, ptr @w_apply
  %results = call ptr @PyObject_VectorcallMethod(ptr %name, ptr %told, i64 3, ptr null)
  %failed = icmp eq ptr %results, null
  %through = or i1 %failed, %keep
  br i1 %through, label %done, label %look
look:
  %words = call ptr @pointer(ptr %e, i64 7)
  %unknown = icmp eq ptr %words, null
  br i1 %unknown, label %release, label %ask
ask:
  %keeps = call i64 @word(ptr %words, i64 1)
  %nothing_kept = icmp eq i64 %keeps, 0
  br i1 %nothing_kept, label %done, label %release
release:
  %release_name = load ptr, ptr @w_release
  %released = call ptr @PyObject_VectorcallMethod(ptr %release_name, ptr %told, i64 1, ptr null)
  %lost = icmp eq ptr %released, null
  br i1 %lost, label %drop, label %drop_answer
drop_answer:
  call void @Py_DecRef(ptr %released)
  ret ptr %results
drop:
  call void @Py_DecRef(ptr %results)
  ret ptr null
done:
  ret ptr %results
}

; Run the node of an entry and send its gradients on; false for an error.
define internal i1 @run_node(ptr %state, i64 %i, i1 %keep) {
entry:
  %None = load ptr, ptr @g_None
  %e = call ptr @entry_of(ptr %state, i64 %i)
  %node = load ptr, ptr %e
  %g = call ptr @pointer(ptr %e, i64 1)
  call void @set_pointer(ptr %e, i64 1, ptr null)
  %edges = call ptr @field(ptr %node, ptr @w_next)
  call void @Py_IncRef(ptr %edges)
  %n = call i64 @word(ptr %edges, i64 2)
  %made = call ptr @results_of(ptr %e, ptr %g, ptr %edges, i1 %keep)
  %no_g = icmp eq ptr %g, null
  br i1 %no_g, label %look, label %drop_g
drop_g:
  call void @Py_DecRef(ptr %g)
  br label %look
look:
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %fail, label %kind
kind:
  %Tuple = load ptr, ptr @g_tuple
  %List = load ptr, ptr @g_list
  %type = call ptr @at(ptr %made, i64 8)
  %is_tuple = icmp eq ptr %type, %Tuple
  %is_list = icmp eq ptr %type, %List
  %nothing = icmp eq ptr %made, %None
  %k0 = or i1 %is_tuple, %is_list
  %known = or i1 %k0, %nothing
  br i1 %known, label %open, label %convert
convert:
  %converted = call ptr @PySequence_Tuple(ptr %made)
  call void @Py_DecRef(ptr %made)
  %unconverted = icmp eq ptr %converted, null
  br i1 %unconverted, label %fail, label %open
open:
  %results = phi ptr [%made, %kind], [%converted, %convert]
  %listed = phi i1 [%is_list, %kind], [false, %convert]
  %absent = icmp eq ptr %results, %None
  br i1 %absent, label %edge, label %measure
measure:
  %beside = getelementptr i8, ptr %results, i64 24
  br i1 %listed, label %of_list, label %counted
of_list:
  %inside = load ptr, ptr %beside
  br label %counted
counted:
  %items_here = phi ptr [%beside, %measure], [%inside, %of_list]
  %size = call i64 @word(ptr %results, i64 2)
  %fewer = icmp slt i64 %size, %n
  br i1 %fewer, label %too_few, label %edge
too_few:
  %Error = load ptr, ptr @w_RuntimeError
  call void @PyErr_SetString(ptr %Error, ptr @w_fewer)
  br label %fail_results
edge:
  %k = phi i64 [0, %open], [0, %counted], [%knext, %next]
  %items = phi ptr [null, %open], [%items_here, %counted], [%items, %next]
  %end = icmp eq i64 %k, %n
  br i1 %end, label %done, label %one
one:
  %at = add i64 %k, 3
  %target = call ptr @pointer(ptr %edges, i64 %at)
  %unwanted = icmp eq ptr %target, %None
  br i1 %unwanted, label %next, label %find
find:
  %slot = call ptr @place_of(ptr %state, ptr %target)
  %j = load i64, ptr %slot
  %strange = icmp eq i64 %j, 0
  br i1 %strange, label %changed, label %give
changed:
  %Error1 = load ptr, ptr @w_RuntimeError
  call void @PyErr_SetString(ptr %Error1, ptr @w_changed)
  br label %fail_results
give:
  br i1 %absent, label %count, label %take
take:
  %r = call ptr @pointer(ptr %items, i64 %k)
  %no_r = icmp eq ptr %r, %None
  br i1 %no_r, label %count, label %fit
fit:
  %t = call ptr @entry_of(ptr %state, i64 %j)
  %fits = call ptr @fitted(ptr %t, ptr %r, ptr %node)
  %unfit = icmp eq ptr %fits, null
  br i1 %unfit, label %fail_results, label %put
put:
  %before = call ptr @pointer(ptr %t, i64 1)
  %first = icmp eq ptr %before, null
  br i1 %first, label %store, label %add
store:
  call void @set_pointer(ptr %t, i64 1, ptr %fits)
  br label %count
add:
  %added = call i1 @add_term(ptr %t, ptr %fits)
  br i1 %added, label %count, label %fail_results
count:
  %counted_it = call i1 @arrived(ptr %state, i64 %j)
  br i1 %counted_it, label %next, label %fail_results
next:
  %knext = add i64 %k, 1
  br label %edge
done:
  call void @Py_DecRef(ptr %results)
  call void @Py_DecRef(ptr %edges)
  ret i1 true
fail_results:
  call void @Py_DecRef(ptr %results)
  br label %fail
fail:
  call void @Py_DecRef(ptr %edges)
  ret i1 false
}

; Accumulate into the leaves that are ready, or catch their gradients; false for an error.
define internal i1 @run_leaves(ptr %state) {
entry:
  %captures = call ptr @pointer(ptr %state, i64 9)
  %whole = icmp eq ptr %captures, null
  br label %look
look:
  %i = call i64 @word(ptr %state, i64 8)
  %none = icmp eq i64 %i, 0
  br i1 %none, label %yes, label %one
one:
  %e = call ptr @entry_of(ptr %state, i64 %i)
  %next = call i64 @word(ptr %e, i64 6)
  call void @set_word(ptr %state, i64 8, i64 %next)
  br i1 %whole, label %add, label %keep
add:
  %added = call i1 @accumulate(ptr %e)
  br i1 %added, label %look, label %no
keep:
  %caught = call i1 @catch(ptr %e, ptr %captures)
  br i1 %caught, label %look, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Run all nodes, beginning with the first entry; false for an error.
define internal i1 @run_all(ptr %state, i1 %keep) {
entry:
  %begun = call i1 @arrived(ptr %state, i64 1)
  br i1 %begun, label %leaves, label %no
leaves:
  %leaves_done = call i1 @run_leaves(ptr %state)
  br i1 %leaves_done, label %choose, label %no
choose:
  %next = call i64 @word(ptr %state, i64 7)
  call void @set_word(ptr %state, i64 7, i64 0)
  %size = call i64 @word(ptr %state, i64 6)
  %empty = icmp eq i64 %size, 0
  %none = icmp eq i64 %next, 0
  br i1 %empty, label %alone, label %heaped
alone:
  br i1 %none, label %yes, label %run
heaped:
  br i1 %none, label %take, label %put
put:
  call void @push(ptr %state, i64 %next)
  br label %take
take:
  %first = call i64 @pop(ptr %state)
  br label %run
run:
  %i = phi i64 [%next, %alone], [%first, %take]
  %ran = call i1 @run_node(ptr %state, i64 %i, i1 %keep)
  br i1 %ran, label %leaves, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Give back what the state holds.
define internal void @leave(ptr %state) {
entry:
  %count = call i64 @word(ptr %state, i64 1)
  br label %each
each:
  %i = phi i64 [1, %entry], [%inext, %dropped]
  %end = icmp sgt i64 %i, %count
  br i1 %end, label %free, label %one
one:
  %e = call ptr @entry_of(ptr %state, i64 %i)
  %node = load ptr, ptr %e
  %g = call ptr @pointer(ptr %e, i64 1)
  call void @Py_DecRef(ptr %node)
  %no_g = icmp eq ptr %g, null
  br i1 %no_g, label %dropped, label %drop
drop:
  call void @Py_DecRef(ptr %g)
  br label %dropped
dropped:
  %inext = add i64 %i, 1
  br label %each
free:
  %entries = call ptr @pointer(ptr %state, i64 0)
  %table = call ptr @pointer(ptr %state, i64 3)
  %heap = call ptr @pointer(ptr %state, i64 5)
  call void @PyMem_RawFree(ptr %entries)
  call void @PyMem_RawFree(ptr %table)
  call void @PyMem_RawFree(ptr %heap)
  ret void
}

define ptr @walk(ptr %self, ptr %args, i64 %nargs) {
entry:
  %state = alloca [10 x i64]
  %None = load ptr, ptr @g_None
  %roots = load ptr, ptr %args
  %kept = call ptr @pointer(ptr %args, i64 1)
  %captures = call ptr @pointer(ptr %args, i64 2)
  %uncaptured = icmp eq ptr %captures, %None
  %caught = select i1 %uncaptured, ptr null, ptr %captures
  %True = load ptr, ptr @g_True
  %keep = icmp eq ptr %kept, %True
  %size = call i64 @word(ptr %roots, i64 2)
  %single = icmp eq i64 %size, 1
  br i1 %single, label %open, label %other
open:
  %items = call ptr @at(ptr %roots, i64 24)
  %pair = load ptr, ptr %items
  %root = call ptr @pointer(ptr %pair, i64 3)
  %g = call ptr @pointer(ptr %pair, i64 4)
  %entries = call ptr @PyMem_RawMalloc(i64 2112)  ; 32 and one that stays empty
  %table = call ptr @PyMem_RawCalloc(i64 128, i64 8)
  call void @set_pointer(ptr %state, i64 0, ptr %entries)
  call void @set_word(ptr %state, i64 1, i64 0)
  call void @set_word(ptr %state, i64 2, i64 32)
  call void @set_pointer(ptr %state, i64 3, ptr %table)
  call void @set_word(ptr %state, i64 4, i64 127)
  call void @set_pointer(ptr %state, i64 5, ptr null)
  call void @set_word(ptr %state, i64 6, i64 0)
  call void @set_word(ptr %state, i64 7, i64 0)
  call void @set_word(ptr %state, i64 8, i64 0)
  call void @set_pointer(ptr %state, i64 9, ptr %caught)
  %no_entries = icmp eq ptr %entries, null
  %no_table = icmp eq ptr %table, null
  %lost = or i1 %no_entries, %no_table
  br i1 %lost, label %refuse, label %first
first:
  %entered = call i64 @enter(ptr %state, ptr %root)
  %begun = icmp sgt i64 %entered, 0
  br i1 %begun, label %all, label %stopped
all:
  %found = call i64 @explore(ptr %state)
  %seen = icmp sgt i64 %found, 0
  br i1 %seen, label %which, label %stopped
which:
  br i1 %uncaptured, label %heap, label %asked
asked:
  %suits = call i64 @all_asked(ptr %state, ptr %captures)
  %suited = icmp sgt i64 %suits, 0
  br i1 %suited, label %heap, label %stopped
stopped:
  %reason = phi i64 [%entered, %first], [%found, %all], [%suits, %asked]
  %failed = icmp slt i64 %reason, 0
  br i1 %failed, label %fail, label %refuse
heap:
  %count = call i64 @word(ptr %state, i64 1)
  %bytes = shl i64 %count, 3
  %made = call ptr @PyMem_RawMalloc(i64 %bytes)
  call void @set_pointer(ptr %state, i64 5, ptr %made)
  %no_heap = icmp eq ptr %made, null
  br i1 %no_heap, label %refuse, label %begin
begin:  ; the caller's list must not keep the gradient: who has the only reference may keep it as it is
  %e = call ptr @entry_of(ptr %state, i64 1)
  call void @Py_IncRef(ptr %g)
  call void @set_pointer(ptr %e, i64 1, ptr %g)
  call void @set_word(ptr %e, i64 2, i64 1)
  %cleared = call i32 @PyList_SetSlice(ptr %roots, i64 0, i64 1, ptr null)
  %uncleared = icmp slt i32 %cleared, 0
  br i1 %uncleared, label %fail, label %run
run:
  %ran = call i1 @run_all(ptr %state, i1 %keep)
  br i1 %ran, label %done, label %fail
done:
  call void @leave(ptr %state)
  call void @Py_IncRef(ptr %True)
  ret ptr %True
fail:
  call void @leave(ptr %state)
  ret ptr null
refuse:
  call void @leave(ptr %state)
  br label %other
other:
  %NotImplemented = load ptr, ptr @g_NotImplemented
  call void @Py_IncRef(ptr %NotImplemented)
  ret ptr %NotImplemented
}
