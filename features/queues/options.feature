Feature: Invalid options
  The broker refuses a CreateQueue with invalid options and creates no queue.

  @QUEUE-032 @QUEUE-033 @QUEUE-034 @QUEUE-035 @QUEUE-036 @QUEUE-041 @QUEUE-042
  Scenario Outline: <option> cannot be <value>
    When the client creates queue "orders" with options:
      | <option> | <value> |
    Then the command is refused with INVALID_PAYLOAD
    And queue "orders" does not exist

    Examples: numbers out of range
      | option           | value      |
      | maxQueueSize     | 0          |
      | maxQueueSize     | -1         |
      | maxQueueSize     | 2147483648 |
      | maxQueueSize     | 1.5        |
      | maxRetryAttempts | 0          |
      | maxRetryAttempts | -3         |
      | maxRetryAttempts | 2147483648 |

    Examples: time spans
      | option     | value          |
      | messageTtl | 00:00:00       |
      | messageTtl | -00:00:01      |
      | messageTtl | 10001.00:00:00 |
      | messageTtl | half an hour   |

    Examples: names that mean nothing
      | option           | value       |
      | mode             | RoundRobbin |
      | mode             | 4           |
      | overflowStrategy | DropAll     |
      | overflowStrategy | 4           |

    Examples: values of another type
      | option                | value |
      | maxQueueSize          | many  |
      | enableDeadLetterQueue | 1     |
      | deadLetterQueueName   | 17    |
      | messageTtl            | 30    |

  @QUEUE-032 @QUEUE-033 @QUEUE-035
  Scenario Outline: <option> can be <value>
    When the client creates queue "orders" with options:
      | <option> | <value> |
    Then the command succeeds

    Examples:
      | option           | value          |
      | maxQueueSize     | 1              |
      | maxQueueSize     | 2147483647     |
      | maxRetryAttempts | 1              |
      | maxRetryAttempts | 2147483647     |
      | messageTtl       | 10000.00:00:00 |

  @QUEUE-041 @QUEUE-042
  Scenario Outline: The payload <payload> is not an object of options
    When the client creates queue "orders" with the payload:
      """
      <payload>
      """
    Then the command is refused with INVALID_PAYLOAD
    And queue "orders" does not exist

    Examples:
      | payload                |
      | [1, 2]                 |
      | "RoundRobin"           |
      | 5                      |
      | {"maxQueueSize":       |

  @QUEUE-037 @QUEUE-042
  Scenario: RedirectToDlq needs a dead letter queue
    When the client creates queue "orders" with options:
      | overflowStrategy | RedirectToDlq |
    Then the command is refused with INVALID_PAYLOAD
    And queue "orders" does not exist

  @QUEUE-038 @QUEUE-042
  Scenario: A queue cannot be its own dead letter queue
    When the client creates queue "orders" with options:
      | enableDeadLetterQueue | true   |
      | deadLetterQueueName   | orders |
    Then the command is refused with INVALID_PAYLOAD
    And queue "orders" does not exist

  @QUEUE-039 @QUEUE-042
  Scenario: The name of a dead letter queue must follow the rule for queue names
    When the client creates queue "orders" with options:
      | enableDeadLetterQueue | true        |
      | deadLetterQueueName   | lost orders |
    Then the command is refused with INVALID_PAYLOAD
    And queue "orders" does not exist

  @QUEUE-040
  Scenario: The generated name of a dead letter queue must not be too long
    When the client creates a queue whose name has 252 letters with options:
      | enableDeadLetterQueue | true |
    Then the command succeeds
    When the client creates a queue whose name has 253 letters with options:
      | enableDeadLetterQueue | true |
    Then the command is refused with INVALID_PAYLOAD
